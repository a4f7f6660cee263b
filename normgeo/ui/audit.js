// Inserts the list. What is unfolded stays so, and the focus stays, when more is listed. A plain
// click on a link stays in the session; with a modifier key it opens the address, which therefore
// holds the view as well.

export default function ({ data, parentElement, setTriggerValue }) {
  const place = parentElement.querySelector(".audit");
  const content = `${data.along} ${data.html}`;
  if (place.dataset.content !== content) {
    const named = (element) => element.closest("[data-claim]")?.dataset.claim;
    const unfolded = new Set([...place.querySelectorAll("details[open]")].map(named));
    const active = place.getRootNode().activeElement;
    const focused = active?.localName === "summary" && named(active);
    place.innerHTML = data.html;
    place.dataset.content = content;
    for (const details of place.querySelectorAll("details")) {
      details.open = unfolded.has(named(details));
      if (focused && named(details) === focused) details.firstElementChild.focus();
    }
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
