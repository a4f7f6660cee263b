// Makes plotly's sliders and buttons, which are drawings, reachable by keyboard and screen reader.
// A slider takes the arrow keys, Page Up and Down, Home and End; a button takes Enter and Space.

function reachable(root) {
  const LEAP = 10;
  const NAMES = { "◀ step": "step back", "step ▶": "step forward", "▶ play": "play", "❚❚": "pause" };

  const step = (plot, index, place) => {
    const slider = plot._fullLayout.sliders[index];
    const last = slider._visibleSteps.length - 1;
    const { args } = slider._visibleSteps[Math.min(Math.max(place, 0), last)];
    window.Plotly.animate(plot, ...args);
  };

  const describe = (group, plot, index) => {
    const slider = plot._fullLayout.sliders[index];
    const { prefix = "", suffix = "" } = slider.currentvalue;
    const label = slider._visibleSteps[slider.active].label;
    const plain = (words) => words.replace(/<[^>]*>/g, "");
    group.setAttribute("aria-valuemin", 0);
    group.setAttribute("aria-valuemax", slider._visibleSteps.length - 1);
    group.setAttribute("aria-valuenow", slider.active);
    group.setAttribute("aria-valuetext", plain(`${prefix}${label}${suffix}`));
    group.setAttribute("aria-label", plain(prefix).replace(/ = $/, "").trim() || "frame");
  };

  const onSliderKey = (event) => {
    const group = event.currentTarget;
    const plot = group.closest(".js-plotly-plot");
    const index = [...plot.querySelectorAll(".slider-group")].indexOf(group);
    const { active } = plot._fullLayout.sliders[index];
    const place = {
      ArrowRight: active + 1, ArrowUp: active + 1, ArrowLeft: active - 1, ArrowDown: active - 1,
      PageUp: active + LEAP, PageDown: active - LEAP, Home: 0, End: Infinity,
    }[event.key];
    if (place !== undefined) {
      event.preventDefault();
      step(plot, index, place);
    }
  };

  const onButtonKey = (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.currentTarget.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    }
  };

  const prepare = () => {
    for (const plot of root.querySelectorAll(".js-plotly-plot")) {
      plot.querySelectorAll(".slider-group").forEach((group, index) => {
        if (!plot._fullLayout?.sliders?.[index]?._visibleSteps) {
          return;
        }
        if (group.getAttribute("role") !== "slider") {
          group.setAttribute("role", "slider");
          group.setAttribute("tabindex", 0);
          group.addEventListener("keydown", onSliderKey);
        }
        describe(group, plot, index);
      });
      for (const button of plot.querySelectorAll(".updatemenu-button")) {
        if (button.getAttribute("role") !== "button") {
          button.setAttribute("role", "button");
          button.setAttribute("tabindex", 0);
          button.addEventListener("keydown", onButtonKey);
        }
        button.setAttribute("aria-label", NAMES[button.textContent] ?? button.textContent);
      }
    }
  };

  let waiting = false;
  const later = () => {
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        prepare();
      });
    }
  };
  const observer = new MutationObserver(later);
  observer.observe(root, { childList: true, subtree: true, characterData: true });
  later();
  return () => observer.disconnect();
}
