// Figures are drawn for a light or a dark page by the server: it is asked again when that changes.
const isDark = () => {
  const app = document.querySelector("[data-testid=stApp]");
  return app !== null && getComputedStyle(app).colorScheme.includes("dark");
};

const SOON = 300; // milliseconds until the page has its new colors

let resets = 0;

// Reset clears the address; a figure that stays the same shows the frame it was made with.
function rewind(count) {
  if (count > resets) {
    for (const player of window.framePlayers?.values() ?? []) {
      if (player.steps) {
        player.stop();
        player.move(player.opening);
      }
    }
  }
  resets = count;
}

export default function ({ data, setTriggerValue }) {
  drawnOnce();
  tellTheAddress();
  rewind(data.resets);
  const ends = [
    playing(document.body, true),
    turning(document.body),
    popovers(),
    keepFocus(),
    picking((found) => setTriggerValue("picked", found)),
  ];
  let dark = isDark();
  const look = () => setTimeout(() => {
    if (isDark() !== dark) {
      dark = isDark();
      setTriggerValue("theme", dark ? "dark" : "light");
    }
  }, SOON);
  const scheme = window.matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", look);
  document.addEventListener("click", look); // the menu has a choice of themes
  return () => {
    ends.forEach((end) => end());
    scheme.removeEventListener("change", look);
    document.removeEventListener("click", look);
  };
}
