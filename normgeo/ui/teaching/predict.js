// The score, in a live region for screen readers.

export default function ({ data, parentElement }) {
  const place = parentElement.querySelector("[role=status]");
  if (place.textContent !== data.words) {
    place.textContent = data.words;
  }
}
