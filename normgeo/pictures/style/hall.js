// A figure shown in a hall, as high as the screen: its form for a hall, fitted to the height.

const MOST_ABOVE = 0.35; // of the screen above a figure; one with more above it has a screen of its own
const EDGE = 8; // pixels beneath a figure, where the page names no other number

// A page shown in a hall says how much larger type is than elsewhere; its figures end where the
// screen does, and begin beneath the bar of a tour.
function hall(plot) {
  const look = getComputedStyle(document.documentElement);
  const larger = look.getPropertyValue("--magnify");
  if (!larger) {
    return null;
  }
  const scrolled = document.querySelector("[data-testid=stMain]")?.scrollTop ?? 0;
  const top = plot.parentElement.getBoundingClientRect().top + scrolled;
  const high = window.innerHeight;
  const bar = document.querySelector(".st-key-tour")?.getBoundingClientRect().height ?? 0;
  const beneath = Number(look.getPropertyValue("--beneath")) || EDGE;
  return { larger: Number(larger), whole: Math.round(high - (top < MOST_ABOVE * high ? top : bar) - beneath) };
}

// The form on a height: the edges of panels are pixels, and a share of what the words leave.
function fitted({ edges, least, absent, ...form }, height) {
  const paper = height - form.margin.t - form.margin.b;
  const layout = { ...form, height };
  for (const [axis, ends] of Object.entries(edges)) {
    const domain = ends.map(([pixels, share]) => 1 - pixels / paper - share);
    layout[axis] = { ...form[axis], domain: domain.map((one) => Math.min(Math.max(one, 0), 1)) };
  }
  for (const [axis, { colorbar }] of Object.entries(form).filter(([, one]) => one?.colorbar)) {
    const [low, high] = layout[colorbar.beside].domain;
    layout[axis] = { ...form[axis], colorbar: { ...colorbar, y: (low + high) / 2, len: high - low } };
  }
  return layout;
}
