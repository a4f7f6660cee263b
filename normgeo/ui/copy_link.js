// The clipboard needs a secure origin; elsewhere the text of a selected field can be copied.
async function copy(words) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(words);
  }
  const field = document.createElement("textarea");
  field.value = words;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  const status = parentElement.querySelector("[role=status]");
  button.textContent = data.label;
  button.onclick = async () => {
    await copy(window.location.href);
    button.textContent = data.done;
    status.textContent = data.done;
    setTimeout(() => {
      button.textContent = data.label;
      status.textContent = "";
    }, 1500);
  };
}
