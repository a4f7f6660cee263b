// Streamlit draws each new figure twice: out of sight, before it knows the width of its place, and
// then as wide as that. The first drawing of a figure of ours is left out.
function drawnOnce() {
  const patch = (Plotly) => {
    if (Plotly.reactsOnce) {
      return;
    }
    const { react } = Plotly;
    Plotly.reactsOnce = true;
    Plotly.react = (plot, figure, ...rest) =>
      figure?.layout?.meta?.id && figure.layout.width === undefined
        ? Promise.resolve(plot)
        : react(plot, figure, ...rest);
  };
  if (window.Plotly) {
    patch(window.Plotly);
    return;
  }
  // The script of plotly comes with the first figure of a visit, later than this one.
  let there;
  Object.defineProperty(window, "Plotly", {
    configurable: true,
    get: () => there,
    set: (Plotly) => {
      there = Plotly;
      patch(Plotly);
    },
  });
}
