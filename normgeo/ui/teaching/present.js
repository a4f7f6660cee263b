// Keys of a presentation, and figures that know how much room a slide has.

const MOMENT = 300; // milliseconds until the page has its usual look again
const FIELDS = "input:not([type=range]), textarea, select, [contenteditable], dialog[open], [role=dialog], [role=listbox]";

// Which slide a key asks for, as the remote controls of speakers send them: by pages or by arrows.
// In a tour arrows go from stop to stop.
const WAYS = { PageDown: "next", PageUp: "back", ArrowRight: "next", ArrowLeft: "back" };

function press(event) {
  const arrow = event.key.startsWith("Arrow");
  const fields = arrow ? `${FIELDS}, ${TAKES_ARROWS}` : FIELDS;
  const inside = event.composedPath().some((one) => one.matches?.(fields));
  const open = document.querySelector("[data-testid=stPopoverBody]");
  const plain = !(event.altKey || event.ctrlKey || event.metaKey || (arrow && event.shiftKey));
  const way = arrow && document.querySelector(".st-key-tour") ? null : WAYS[event.key];
  const click = (key) => document.querySelector(`.st-key-${key} button:not([disabled])`)?.click();
  if (event.key === "Escape" && !inside && !open) {
    click("present_leave");
  } else if (way && plain && !inside && !event.defaultPrevented) {
    event.preventDefault();
    click(`slide_${way}`);
    document.querySelector("[data-testid=stMain]").scrollTo(0, 0); // a slide begins at its top
  }
}

const fit = () => window.dispatchEvent(new Event("resize"));

// Streamlit calls a component again when its data or the theme change, and does not end the call
// before.
let end = () => {};

export default function () {
  end();
  const keys = (event) => press(event);
  document.addEventListener("keydown", keys);
  const page = document.querySelector("[data-testid=stMainBlockContainer]").firstElementChild;
  const observer = new ResizeObserver(fit);
  observer.observe(page); // calls `look` at once
  end = () => {
    observer.disconnect();
    document.removeEventListener("keydown", keys);
  };
  const own = end;
  return () => {
    own();
    setTimeout(fit, MOMENT);
  };
}
