// Inserts the table. A plain click on a link stays in the session; with a modifier key it opens the
// address, which therefore holds the view as well.

export default function ({ data, parentElement, setTriggerValue }) {
  const place = parentElement.querySelector(".audit");
  const content = `${data.along} ${data.html}`;
  if (place.dataset.content !== content) {
    place.innerHTML = data.html;
    place.dataset.content = content;
    for (const link of data.along ? place.querySelectorAll("a[data-key]") : []) {
      link.href += `${link.search ? "&" : "?"}${data.along}`;
    }
  }
  place.onclick = (event) => {
    const link = event.target.closest("a");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      setTriggerValue("opened", link.dataset.key);
    }
  };
}
