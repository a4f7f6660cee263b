// Where a panel of a figure stands and which values it shows, as plotly has drawn it: the axes of a
// layout say their ranges, and the cover that takes the pointer stands where the panel does.

const long = (name, letter) => `${letter}axis${name.slice(1)}`;

// The panel of two axes, named as in a trace ("x2", "y2"): its box on the screen, and how its places
// in pixels, from its upper left corner, follow from values and back.
function panelOf(plot, [x = "x", y = "y"]) {
  const cover = plot.querySelector(`.nsewdrag[data-subplot="${x}${y}"]`);
  const [width, height] = ["width", "height"].map((side) => Number(cover.getAttribute(side)));
  const [left, right] = plot.layout[long(x, "x")].range;
  const [low, high] = plot.layout[long(y, "y")].range;
  return {
    cover,
    pixels: ([one, other]) => [
      (width * (one - left)) / (right - left), (height * (high - other)) / (high - low),
    ],
    values: ([across, down]) => [
      left + (across / width) * (right - left), high - (down / height) * (high - low),
    ],
  };
}
