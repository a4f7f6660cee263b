// Puts the table in its place. A click on a link stays in the session; with a key held it does not.

export default function ({ data, parentElement, setTriggerValue }) {
  const place = parentElement.querySelector(".audit");
  if (place.dataset.content !== data.html) {
    place.innerHTML = data.html;
    place.dataset.content = data.html;
  }
  place.onclick = (event) => {
    const link = event.target.closest("a");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      setTriggerValue("opened", link.dataset.key);
    }
  };
}
