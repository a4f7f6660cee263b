// On a phone this button opens the row of controls, which style.css hides.
const row = document.documentElement;

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  const show = (open) => {
    row.toggleAttribute("data-options", open);
    button.setAttribute("aria-expanded", open);
  };
  if (!button.onclick) {
    show(false); // a page opens with its figure
  }
  button.textContent = data.label;
  button.onclick = () => show(!row.hasAttribute("data-options"));
}
