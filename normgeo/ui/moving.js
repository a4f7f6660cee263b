// What moves a page for a hand: a tab that is chosen, and a way past the navigation for keys.

const CHOOSES = ["ArrowLeft", "ArrowRight", "Home", "End"];
const HANDS = ["wheel", "touchmove", "pointerdown", "keydown"];

// The page moves to what a chosen tab holds, again whenever it changes its size, until a hand does
// something else. A picture may choose a tab as well.
function tabs() {
  let end = () => {};
  const rest = () => end();
  const choose = (event) => {
    const { type, key, target } = event;
    const isTab = target.closest?.("[role=tab]") && (type === "click" || CHOOSES.includes(key));
    if (isTab || (type === "click" && picked(event)?.[0] === "tab")) {
      end();
      const look = () => document.querySelector("[data-testid=stTabs]")?.scrollIntoView();
      const observer = new ResizeObserver(look);
      observer.observe(document.querySelector("[data-testid=stMainBlockContainer]").firstElementChild);
      end = () => observer.disconnect();
    }
  };
  const hears = (listen) => {
    ["click", "keyup"].forEach((name) => document[listen](name, choose, true));
    HANDS.forEach((name) => document[listen](name, rest, { capture: true, passive: true }));
  };
  hears("addEventListener");
  return () => {
    end();
    hears("removeEventListener");
  };
}

// The first stop of Tab leads to the slider of the page, or to its first figure.
function skip(words) {
  const place = Object.assign(document.createElement("nav"), { className: "skip", ariaLabel: words });
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: words });
  button.onclick = () => {
    const found = document.querySelector(".frames input") ?? document.querySelector(".figure");
    if (found?.matches(".figure")) {
      found.tabIndex = -1;
    }
    found?.focus();
  };
  place.append(button);
  document.body.prepend(place);
  return () => place.remove();
}
