// A figure of a page: plotly's script is loaded once, and Python hears where the slider rests.

let loading = null;

function plotly(address) {
  loading ??= new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = done;
    script.onerror = () => {
      loading = null; // the next figure tries again
      fail(new Error("The script that draws figures did not arrive. Load the page again."));
    };
    document.head.append(script);
  });
  return loading;
}

// A link that is copied at once has the frame, and Back leads to the page before, not to the frame
// before: Python writes the same.
function address(setting, value) {
  const url = new URL(window.location.href);
  url.searchParams.set(setting, value);
  window.history.replaceState(window.history.state, "", url);
}

const shown = new Map(); // by the id of the words for those who do not see a figure
let told = 0; // how often: Python hears of what differs from the last
let last = -Infinity; // when it was told

// Streamlit gathers for a moment what components tell Python, and would tell of a link or a button
// first: one that is pressed at once waits.
const MOMENT = 100, AT_ONCE = 1000; // milliseconds: a busy browser hears of a click before a timer
window.addEventListener("click", (event) => {
  const pressed = event.target.closest?.("a[href], button:not(.figure button)");
  const early = event.isTrusted && event.timeStamp - last < AT_ONCE;
  if (pressed && early && !(event.ctrlKey || event.metaKey || event.shiftKey)) {
    event.preventDefault();
    event.stopImmediatePropagation();
    setTimeout(() => pressed.click(), MOMENT);
  }
}, true);

export default async function ({ data, parentElement, setStateValue }) {
  const box = parentElement.querySelector(".figure");
  await plotly(data.plotly);
  const before = shown.get(data.alt);
  const player = before?.box === box ? before.player : new Player(box);
  const [asked, count] = data.opened;
  // The page may stand a figure elsewhere, in another box: it stays where it was.
  const place = before?.count === count ? before.player.place : asked;
  player.rest = data.alone ? null : (value, setting) => {
    address(setting, value);
    setStateValue("rest", [value, ++told]);
    last = performance.now();
  };
  if (before?.box !== box || before.text !== data.figure) {
    player.open(JSON.parse(data.figure), place);
    box.setAttribute("role", "figure");
    box.setAttribute("aria-label", data.title);
    box.setAttribute("aria-describedby", data.alt);
  } else if (player.steps && player.place !== place) {
    player.stop();
    player.move(place);
  }
  shown.set(data.alt, { box, player, text: data.figure, count });
  return () => player.end();
}
