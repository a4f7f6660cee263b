// Copies the address, and the line that embeds the figure; shows the code of the address, and asks
// for a new one if a slider has changed the address since.

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

function embedding() {
  const address = new URL(window.location.href);
  address.searchParams.set("embed", "true");
  return `<iframe src="${address.href.replaceAll("&", "&amp;")}" width="1000" height="620"></iframe>`;
}

let asked = null;

export default function ({ data, parentElement, setTriggerValue }) {
  const status = parentElement.querySelector("[role=status]");
  const words = { link: () => window.location.href, embed: embedding };
  for (const button of parentElement.querySelectorAll("button")) {
    const label = data[button.name];
    button.textContent = label;
    button.onclick = async () => {
      status.textContent = ""; // the same words are said again
      await copy(words[button.name]());
      button.textContent = status.textContent = data.done;
      setTimeout(() => { button.textContent = label; }, 1500);
    };
  }
  const image = parentElement.querySelector("img");
  const now = window.location.href;
  image.hidden = !data.image;
  if (data.image) {
    image.src = data.image;
  }
  image.alt = data.address;
  parentElement.querySelector("p").textContent = data.address;
  if (data.address !== now && asked !== now) {
    asked = now;
    setTriggerValue("seen", now);
  }
}
