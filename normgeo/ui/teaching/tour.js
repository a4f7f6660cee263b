// Guides through a tour: scrolls to the subject of a stop; ← → change the stop, and Enter shows what
// to notice.

const TAKES_ENTER = "a, button, summary, [role=button]";

const MOMENT = 500; // milliseconds in which a page changes
const HANDS = ["wheel", "touchmove", "pointerdown", "keydown"];
const BAR = ".st-key-tour";
const TABS = "[data-testid=stTabs]";

function walk(event) {
  const way = { ArrowLeft: "back a", ArrowRight: "next a", Enter: "notice button" }[event.key];
  const plain = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
  const takes = event.key === "Enter" ? `${TAKES_ARROWS}, ${TAKES_ENTER}` : TAKES_ARROWS;
  const inside = event.composedPath().some((one) => one.matches?.(takes));
  if (way && plain && !inside && !event.defaultPrevented) {
    event.preventDefault();
    document.querySelector(`.st-key-tour_${way}`)?.click();
  }
}

// Scrolls the subject beneath the bar if it is out of view, and again whenever it comes, the page above
// it grows or scrolls to a tab by itself, until the user scrolls, points or types (not Enter).
function show(subject) {
  const scroller = document.querySelector("[data-testid=stMain]");
  const page = document.querySelector("[data-testid=stMainBlockContainer]").firstElementChild;
  const look = () => {
    const bar = document.querySelector(BAR);
    const found = document.querySelector(subject ? `.st-key-${subject}` : TABS);
    if (bar && found) {
      const top = bar.getBoundingClientRect().bottom;
      const box = found.getBoundingClientRect();
      // Show a tab's figure with the tab bar and its controls if all fit.
      const tabs = found.closest(TABS)?.getBoundingClientRect();
      const start = tabs && box.bottom - tabs.top <= window.innerHeight - top ? tabs.top : box.top;
      if (start < top - 1 || box.bottom > window.innerHeight + 1) {
        scroller.scrollBy({ top: start - top, behavior: "instant" });
      }
    }
  };
  const observers = [new ResizeObserver(look), new MutationObserver(look)];
  const end = () => {
    observers.forEach((each) => each.disconnect());
    scroller.removeEventListener("scroll", look);
    HANDS.forEach((name) => document.removeEventListener(name, hand, true));
  };
  const hand = ({ key }) => key === "Enter" || end();
  HANDS.forEach((name) => document.addEventListener(name, hand, { capture: true, passive: true }));
  scroller.scrollTo({ top: 0, behavior: "instant" });
  scroller.addEventListener("scroll", look);
  observers[0].observe(page); // calls `look` at once
  observers[1].observe(page, { childList: true, subtree: true });
  return end;
}

let shown = null, rest = () => {};

export default function ({ data }) {
  if (shown !== data.stop) {
    shown = data.stop;
    rest();
    rest = show(data.subject);
  }
  // Screen readers announce a new question, and what to notice.
  document.querySelector(".st-key-tour_words").setAttribute("role", "status");
  document.addEventListener("keydown", walk); // adding the same function again has no effect
  return () => setTimeout(() => {
    if (!document.querySelector(BAR)) {
      document.removeEventListener("keydown", walk);
      shown = null;
      rest();
    }
  }, MOMENT);
}
