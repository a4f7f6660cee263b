// The server draws figures for a light or a dark page: report a change of the theme.
const isDark = () => {
  const app = document.querySelector("[data-testid=stApp]");
  return app !== null && getComputedStyle(app).colorScheme.includes("dark");
};

const SOON = 300; // milliseconds until the page has its new colors

let dark = null;

// Streamlit calls a component again when its data or the theme change, without ending the previous
// call: remove that one's listeners here.
let end = () => {};

export default function ({ data, setTriggerValue }) {
  end();
  embedding();
  const ends = [
    popovers(),
    keepFocus(),
    tabs(),
    skip(data.skip),
    picking((found) => setTriggerValue("picked", found)),
  ];
  dark ??= isDark();
  const look = () => setTimeout(() => {
    if (isDark() !== dark) {
      dark = isDark();
      setTriggerValue("theme", dark ? "dark" : "light");
    }
  }, SOON);
  const scheme = window.matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", look);
  document.addEventListener("click", look); // the menu has a choice of themes
  look(); // the colors may have changed between two calls
  end = () => {
    ends.forEach((one) => one());
    scheme.removeEventListener("change", look);
    document.removeEventListener("click", look);
  };
  return end;
}
