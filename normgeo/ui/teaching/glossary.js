// A line of symbols and terms; each tells its meaning on hover, focus and touch. Escape closes it.

export default function ({ data, parentElement }) {
  const list = parentElement.querySelector("ul");
  const tip = parentElement.querySelector("[role=tooltip]");
  const content = JSON.stringify(data);
  if (list.dataset.content === content) {
    return;
  }
  const hide = () => { tip.hidden = true; };
  const show = (button, meaning) => {
    tip.textContent = meaning;
    tip.hidden = false;
    const { left, bottom, top } = button.getBoundingClientRect();
    const { width, height } = tip.getBoundingClientRect();
    const below = bottom + height + 8 < window.innerHeight;
    tip.style.left = `${Math.max(8, Math.min(left, window.innerWidth - width - 8))}px`;
    tip.style.top = `${below ? bottom + 4 : top - height - 4}px`;
  };
  list.setAttribute("aria-label", data.label);
  list.replaceChildren(...data.entries.map(([name, meaning]) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: name });
    button.setAttribute("aria-describedby", "meaning");
    for (const event of ["pointerenter", "focus", "click"]) {
      button.addEventListener(event, () => show(button, meaning));
    }
    for (const event of ["pointerleave", "blur"]) {
      button.addEventListener(event, hide);
    }
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
  list.onkeydown = (event) => {
    if (event.key === "Escape" && !tip.hidden) {
      event.stopPropagation();
      hide();
    }
  };
  list.dataset.content = content;
}
