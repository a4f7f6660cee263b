// Shows the code of the address; if a slider has changed the address since, asks for a new code.
let asked = null;

export default function ({ data, parentElement, setTriggerValue }) {
  const image = parentElement.querySelector("img");
  const now = window.location.href;
  image.hidden = !data.image;
  if (data.image) {
    image.src = data.image;
  }
  image.alt = data.link;
  parentElement.querySelector("p").textContent = data.link;
  if (data.link !== now && asked !== now) {
    asked = now;
    setTriggerValue("seen", now);
  }
}
