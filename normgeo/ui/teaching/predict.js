// The score, in a place that screen readers listen to.

export default function ({ data, parentElement }) {
  const place = parentElement.querySelector("[role=status]");
  if (place.textContent !== data.words) {
    place.textContent = data.words;
  }
}
