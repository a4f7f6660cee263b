const PINNED = ".st-key-figure_pinned"; // a figure that a page keeps beside another one

// A click on a small picture chooses its case or neuron: `picks` in the meta of a figure say where
// the pictures stand, and which value of a setting each one is.

// What lies under the pointer, as [setting, value]; plotly lays its own covers over a figure.
function picked(event) {
  for (const part of document.elementsFromPoint(event.clientX, event.clientY)) {
    const plot = part.closest(PINNED) ? null : part.closest(".js-plotly-plot");
    for (const { setting, axes, boxes } of plot?.layout?.meta?.picks ?? []) {
      const { cover, values } = panelOf(plot, axes.map((axis) => axis.replace("axis", "")));
      const frame = cover.getBoundingClientRect();
      const [x, y] = values([event.clientX - frame.left, event.clientY - frame.top]);
      const box = boxes.find(([x0, x1, y0, y1]) => x0 <= x && x <= x1 && y0 <= y && y <= y1);
      if (box) {
        return [setting, box[4]];
      }
    }
  }
  return null;
}

function picking(choose) {
  let last = 0;
  const click = (event) => {
    // Plotly sends a click of its own after the browser's.
    const found = event.timeStamp - last > 300 ? picked(event) : null;
    if (found) {
      last = event.timeStamp;
      choose(found);
    }
  };
  const point = (event) => {
    const plot = event.target.closest?.(".js-plotly-plot");
    if (plot?.layout?.meta?.picks) {
      plot.querySelectorAll(".drag").forEach((cover) => {
        cover.style.cursor = picked(event) ? "pointer" : "";
      });
    }
  };
  document.addEventListener("click", click);
  document.addEventListener("pointermove", point);
  return () => {
    document.removeEventListener("click", click);
    document.removeEventListener("pointermove", point);
  };
}
