// A choice in a figure is a drawing to plotly, by these names: it becomes a button that keys reach.
// Plotly paints the chosen one nearly white in any theme, which the style sheet mends.

const MENU_STYLE = `
[role=button] .updatemenu-item-text { fill: var(--menu-ink) !important; }
[role=button] .updatemenu-item-rect {
  fill: color-mix(in srgb, var(--menu-ink) 8%, var(--menu-paper)) !important; }
[role=button] .updatemenu-item-rect[style*="rgb(244, 250, 255)"] {
  fill: color-mix(in srgb, var(--menu-ink) 32%, var(--menu-paper)) !important; }
`;

function reachable(plot) {
  dressed("menu-style", MENU_STYLE);
  const { font, paper_bgcolor: paper } = plot.layout.template?.layout ?? {};
  Object.entries({ ink: font?.color, paper }).forEach(([name, color]) => plot.style.setProperty(`--menu-${name}`, color));
  for (const button of plot.querySelectorAll(".updatemenu-button")) {
    if (button.getAttribute("role") !== "button") {
      button.setAttribute("role", "button");
      button.setAttribute("tabindex", 0);
      button.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          button.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        }
      });
    }
    button.setAttribute("aria-label", button.textContent);
  }
}
