// A figure shown to a room: its type is larger than it was made for, its width is not. So what is
// between panels takes more of the width and the height, panels less, and words go on in a new line.

const MOST_ABOVE = 0.35; // of the screen above a figure; one with more above it has a screen of its own
const EDGE = 8; // pixels beneath a figure
const LINE_HEIGHT = 1.3; // of a line of words, as plotly has it
const SLIDER = 88; // pixels for the slider at the foot, in a room
const SYMBOL = 3.2; // of the size of type, what a legend draws before a name
const NAMES = 1.5; // of the size of type, a line of a legend
const MOST_BETWEEN = 0.6; // of a width or a height, at most, that is not panels
const CLOSE = 1e-6;

// A page shown to a room says how much larger type is than elsewhere; its figures end where the
// screen does, and begin beneath the bar of a tour.
function room(plot) {
  const larger = getComputedStyle(document.documentElement).getPropertyValue("--magnify");
  if (!larger) {
    return null;
  }
  const scrolled = document.querySelector("[data-testid=stMain]")?.scrollTop ?? 0;
  const top = plot.parentElement.getBoundingClientRect().top + scrolled;
  const high = window.innerHeight;
  const bar = document.querySelector(".st-key-tour")?.getBoundingClientRect().height ?? 0;
  return { larger: Number(larger), whole: Math.round(high - (top < MOST_ABOVE * high ? top : bar) - EDGE) };
}

const letters = document.createElement("canvas").getContext("2d");

const isAxis = (name, letter) => new RegExp(`^${letter}axis\\d*$`).test(name);

// The largest font that a word of a tag has; smaller letters above and below a line are no wider.
function fontAfter(tag, fonts) {
  if (tag.startsWith("</")) {
    return fonts.length > 1 ? fonts.slice(0, -1) : fonts;
  }
  const last = fonts.at(-1);
  const size = tag.match(/font-size:\s*([\d.]+)px/);
  return [...fonts, { bold: last.bold || /^<b[\s>]/.test(tag), size: size ? Number(size[1]) : last.size }];
}

const measured = (words, size, family, bold = false) => {
  letters.font = `${bold ? "bold " : ""}${size}px ${family}`;
  return letters.measureText(words).width;
};

// Words in lines that are no wider than the room for them where there is a space to break at; the
// height of the lines, and the width of the widest.
function inLines(words, size, family, room = Infinity) {
  let fonts = [{ size, bold: false }], tallest = 0, height = 0, widest = 0, done = "";
  let line = "", across = 0, space = null; // the last space: the length and the width up to it
  const end = (upTo, from) => {
    height += LINE_HEIGHT * (tallest || fonts.at(-1).size);
    widest = Math.max(widest, upTo.across);
    done += line.slice(0, upTo.length);
    line = line.slice(upTo.length);
    across -= from.across;
    [tallest, space] = [line ? fonts.at(-1).size : 0, null];
  };
  const here = () => ({ length: line.length, across });
  for (const part of String(words).split(/(<[^>]*>)/).filter(Boolean)) {
    if (/^<br/.test(part)) {
      end(here(), here());
      done += "<br>";
    } else if (part.startsWith("<")) {
      fonts = fontAfter(part, fonts);
      line += part;
    } else {
      const { bold, size: own } = fonts.at(-1);
      // What stands beside a sign of a formula stays there.
      for (const word of part.split(/(?<=(?<! [=+−×÷]) )(?![=+−×÷] )/)) {
        if (space && across + measured(word.trimEnd(), own, family, bold) > room) {
          end(space, space);
          done += "<br>";
        }
        line += word;
        across += measured(word, own, family, bold);
        tallest = Math.max(tallest, own);
        space = word.endsWith(" ") ? here() : space;
      }
    }
  }
  end(here(), here());
  return { text: done, height, widest };
}

// Panels along one side: where a place between 0 and `last` goes when what is between panels, given
// in pixels, keeps its size on a side of so many pixels.
function spread(domains, last, made, side, more = () => 0) {
  const panels = [];
  for (const [low, high] of domains.map((one) => [...one]).sort(([one], [other]) => one - other)) {
    const before = panels.at(-1);
    if (before && low < before[1] - CLOSE) {
      before[1] = Math.max(before[1], high);
    } else {
      panels.push([low, high]);
    }
  }
  const edges = [0, ...panels.flat(), last];
  const gap = (place) => place % 2 === 0;
  const sizes = edges.slice(1).map((edge, place) => edge - edges[place]);
  let pixels = sizes.map((size, place) => (gap(place) ? size * made + more(edges[place]) : 0));
  const total = pixels.reduce((sum, one) => sum + one, 0);
  const shrink = Math.min(1, (MOST_BETWEEN * side) / (total || 1));
  pixels = pixels.map((one) => one * shrink);
  const left = side - total * shrink;
  const inside = sizes.reduce((sum, size, place) => sum + (gap(place) ? 0 : size), 0) || 1;
  const goals = [0];
  sizes.forEach((size, place) => {
    goals.push(goals.at(-1) + (gap(place) ? pixels[place] : (size / inside) * left) / side);
  });
  return (value) => {
    const place = Math.min(Math.max(edges.findLastIndex((edge) => edge <= value + CLOSE), 0), sizes.length - 1);
    const part = sizes[place] > CLOSE ? (value - edges[place]) / sizes[place] : 0;
    return goals[place] + part * (goals[place + 1] - goals[place]);
  };
}

// A legend between the words above all panels and the panels, in lines: where it begins and how high
// it is, as made and in a room.
function legendBlock({ legend, showlegend }, data, top, { made, wide, size, family }) {
  if (legend?.yanchor !== "bottom" || !(legend.y >= top) || showlegend === false) {
    return [];
  }
  const own = legend.font?.size ?? size;
  const named = data.filter((one) => one.name && one.showlegend !== false);
  const names = [...new Map(named.map((one) => [one.legendgroup ?? one.name, one.name])).values()];
  const lines = (room) => {
    let [count, across] = [0, Infinity];
    for (const name of names) {
      const needed = inLines(name, own, family).widest + SYMBOL * own;
      [count, across] = across + needed > room ? [count + 1, needed] : [count, across + needed];
    }
    return NAMES * own * count;
  };
  const bottom = (legend.y - top) * made.high;
  return [{ left: 0, right: wide, bottom, old: lines(made.wide), height: lines(wide) }];
}

// Numbers as plotly's Python writes them: a list, or bytes.
function numbers(found) {
  if (!found.bdata) {
    return [...found];
  }
  const kinds = { f8: Float64Array, f4: Float32Array, i4: Int32Array, i2: Int16Array, i1: Int8Array };
  Object.assign(kinds, { u4: Uint32Array, u2: Uint16Array, u1: Uint8Array });
  return [...new kinds[found.dtype](Uint8Array.from(atob(found.bdata), (byte) => byte.charCodeAt(0)).buffer)];
}

// The pixels of a unit on an axis: in a square, as many as on its other axis.
function unit(name, layout, drawn, pixels) {
  const short = (one) => one.replace("axis", "");
  const long = (one) => `${one[0]}axis${one.slice(1)}`;
  const tied = Object.keys(pixels).filter((one) => layout[one]?.scaleanchor === short(name));
  const all = [name, ...tied, ...(layout[name]?.scaleanchor ? [long(layout[name].scaleanchor)] : [])];
  const ranged = all.filter((one) => pixels[one] && drawn[one]?.range);
  return Math.min(...ranged.map((one) => pixels[one] / Math.abs(drawn[one].range[1] - drawn[one].range[0])));
}

// An axis of so many pixels, and so many to a unit, with labels that do not stand on each other and a
// title that is no longer than the axis.
function legible(name, axis, drawn, pixels, each, { template, family }) {
  const upright = name[0] === "y";
  const usual = upright ? template.layout.yaxis : template.layout.xaxis;
  const size = axis.tickfont?.size ?? usual.tickfont.size;
  const changed = {};
  const title = typeof axis.title === "string" ? { text: axis.title } : axis.title;
  if (title?.text) {
    const own = title.font?.size ?? usual.title.font.size;
    const { widest } = inLines(title.text, own, family);
    changed.title = { ...title, font: { ...title.font, size: Math.max(size, Math.min(own, (own * pixels) / widest)) } };
  }
  const needs = (words) => (upright ? 1.1 * size : inLines(words, size, family).widest + 0.4 * size);
  if (axis.tickvals) {
    const values = numbers(axis.tickvals);
    const at = (value) => (drawn.type === "log" ? Math.log10(value) : Number(value)) * each;
    const texts = axis.ticktext ?? values.map(String);
    const kept = [];
    values.forEach((value, place) => {
      const last = kept.at(-1);
      const room = last === undefined ? Infinity : Math.abs(at(value) - at(values[last]));
      const both = last === undefined ? 0 : (needs(texts[place]) + needs(texts[last])) / 2;
      if (room >= both) {
        kept.push(place);
      }
    });
    changed.tickvals = kept.map((place) => values[place]);
    if (axis.ticktext) {
      changed.ticktext = kept.map((place) => texts[place]);
    }
  } else if (typeof axis.dtick === "number") {
    const words = drawn.type === "log" ? "10<sup>−10</sup>" : String(Math.round(Math.max(...drawn.range.map(Math.abs))));
    changed.dtick = axis.dtick * Math.max(1, Math.ceil(needs(words) / (axis.dtick * each)));
  }
  return { ...axis, ...changed };
}

// How far the path of a mark reaches below its point, in pixels.
const depth = ({ path }) => -Math.min(...path.matchAll(/,(-?[\d.]+)/g).map(([, up]) => Number(up)));

// A layout whose lengths are scaled already, with room for them on a figure of a width and a height.
function roomy(data, layout, drawn, { scale, larger }) {
  const { width, height, template } = layout;
  const margin = { ...layout.margin };
  const made = {
    wide: width * larger - margin.l - margin.r,
    high: layout.meta.height * scale - margin.t - margin.b,
  };
  // The slider takes less than a strip that grows with the type.
  margin.b -= layout.meta.steps ? Math.max(0, layout.meta.steps.strip * scale - SLIDER) : 0;
  // Where the height is short, the largest type gives way first.
  const short = Math.min(1, (height - margin.t - margin.b) / made.high);
  const family = layout.font?.family ?? template.layout.font.family;
  const usual = layout.font?.size ?? template.layout.font.size;
  const wide = width - margin.l - margin.r;
  const axes = (letter) => Object.keys(layout).filter((name) => isAxis(name, letter));
  const domain = (name) => layout[name]?.domain ?? [0, 1];
  const top = Math.max(...axes("y").map((name) => domain(name)[1]));
  const across = spread(axes("x").map(domain), 1, made.wide, wide);
  const named = (ref, letter) => `${letter}axis${ref.replace(" domain", "").slice(1)}`;
  const inPanel = (ref) => / domain$/.test(ref ?? "");

  // Words: where they begin, and how much room there is until the next ones.
  const starts = axes("x").map((name) => across(domain(name)[0]) * wide);
  const notes = (layout.annotations ?? []).map((one) => {
    const note = { ...one };
    if (note.xref === "paper") {
      note.x = across(note.x);
    }
    const [low, high] = inPanel(note.xref) ? domain(named(note.xref, "x")).map(across) : [0, 1];
    const left = note.xref === "paper" || inPanel(note.xref) ? (low + note.x * (high - low)) * wide : NaN;
    const rowTop = inPanel(note.yref) && note.y === 1 ? domain(named(note.yref, "y"))[1] : null;
    const above = note.yref === "paper" ? note.y >= top - CLOSE : rowTop !== null && rowTop >= top - CLOSE;
    const asked = note.font?.size ?? usual;
    const size = asked > usual ? Math.max(usual, asked * short) : asked;
    note.font = { ...note.font, size };
    const { height: old, widest } = inLines(note.text, size, family);
    const free = inPanel(note.xref) ? starts.find((start) => start > left + 1) ?? wide + margin.r : wide + margin.r;
    let found = { text: note.text, height: old, widest };
    if (left >= 0 && note.xanchor === "left" && !note.textangle && !note.showarrow && (above || rowTop !== null)) {
      found = inLines(note.text, size, family, free - left - size / 2);
    }
    note.text = found.text;
    const shift = (note.yshift ?? 0) + (above && note.yref === "paper" ? (note.y - top) * made.high : 0);
    const bottom = note.yanchor === "top" ? shift - old : shift;
    return { note, above, rowTop, left, right: left + (free - left), old, ...found, bottom };
  });

  // Above all panels, what has more lines pushes up what stands over it.
  let highest = 0, pushed = 0;
  const [block] = legendBlock(layout, data, top, { made, wide, size: usual, family });
  const stack = [...notes.filter((one) => one.above), ...(block ? [block] : [])].sort((one, other) => one.bottom - other.bottom);
  stack.forEach((one, place) => {
    one.up = Math.max(0, ...stack.slice(0, place)
      .filter((under) => under.bottom + under.old <= one.bottom + 0.5 * usual && under.left < one.right && one.left < under.right)
      .map((under) => under.up + under.height - under.old));
    highest = Math.max(highest, one.bottom + one.old);
    pushed = Math.max(pushed, one.bottom + one.up + one.height);
  });
  const extra = Math.max(0, pushed - highest);
  let title = layout.title;
  let titleExtra = 0;
  if (title?.text) {
    const size = title.font?.size ?? template.layout.title.font.size;
    const before = inLines(title.text, size, family);
    const after = inLines(title.text, size, family, wide);
    titleExtra = after.height - before.height;
    // Plotly places the last line.
    const pad = { ...template.layout.title.pad, ...title.pad };
    title = { ...title, text: after.text, pad: { ...pad, t: pad.t + titleExtra } };
  }
  margin.t += (1 - top) * made.high + extra + titleExtra;
  const high = height - margin.t - margin.b;
  const more = (edge) => Math.max(0, ...notes
    .filter((one) => !one.above && one.rowTop !== null && Math.abs(one.rowTop - edge) < CLOSE)
    .map((one) => one.height - one.old));
  const within = spread(axes("y").map(domain), top, made.high, high, more);
  const up = (y, by = extra) => (y >= top + CLOSE ? 1 + ((y - top) * made.high + by) / high : within(y));

  for (const { note, above, up: by, height: tall, bottom } of notes) {
    if (above) {
      note.yshift = bottom + by + (note.yanchor === "top" ? tall : 0);
      note.y = 1;
    } else if (note.yref === "paper") {
      note.y = within(note.y);
    }
  }
  // Words at the foot of a panel that is too low for them and for those at its top lose their last lines.
  for (const { note, height: tall } of notes.filter(({ note: one }) => inPanel(one.yref) && one.y === 0 && one.yanchor === "bottom")) {
    const tops = notes.filter(({ note: one }) => one.yref === note.yref && one.y === 1 && one.yanchor === "top");
    const [from, to] = domain(named(note.yref, "y")).map(within);
    const marks = (layout.shapes ?? []).filter((one) => one.yref === note.yref && one.ysizemode === "pixel" && one.yanchor === 1);
    const used = Math.max(0, ...tops.map((one) => one.height - (one.note.yshift ?? 0)), ...marks.map(depth));
    const lines = note.text.split("<br>");
    const room = (to - from) * high - used - (note.yshift ?? 0);
    note.text = lines.slice(0, Math.max(1, Math.floor((room * lines.length) / tall))).join("<br>");
  }
  const roomyLayout = { ...layout, margin, annotations: notes.map((one) => one.note) };
  if (title) {
    roomyLayout.title = title;
  }
  const pixels = {};
  for (const [letter, place, side] of [["x", across, wide], ["y", within, high]]) {
    for (const name of axes(letter)) {
      const own = domain(name).map(place);
      pixels[name] = (own[1] - own[0]) * side;
      roomyLayout[name] = { ...layout[name], domain: own };
    }
  }
  for (const name of Object.keys(pixels).filter((one) => drawn[one]?.range)) {
    const each = unit(name, layout, drawn, pixels);
    roomyLayout[name] = legible(name, roomyLayout[name], drawn[name], pixels[name], each, { template, family });
  }
  // A mark of its own size hangs on a point.
  const moved = (one, side, place) => {
    if (one[`${side}ref`] !== "paper") {
      return {};
    }
    const names = one[`${side}sizemode`] === "pixel" ? [`${side}anchor`] : [`${side}0`, `${side}1`];
    return Object.fromEntries(names.map((name) => [name, place(one[name])]));
  };
  const placed = (one) => ({ ...one, ...moved(one, "x", across), ...moved(one, "y", up) });
  if (layout.shapes) {
    roomyLayout.shapes = layout.shapes.map(placed);
  }
  for (const name of Object.keys(layout).filter((one) => /^coloraxis\d*$/.test(one) && layout[one].colorbar)) {
    const bar = layout[name].colorbar;
    const half = (bar.len ?? 1) / 2;
    const middle = bar.y ?? 0.5;
    roomyLayout[name] = { ...layout[name], colorbar: {
      ...bar, x: across(bar.x ?? 1.02), y: within(middle), len: within(middle + half) - within(middle - half),
    } };
  }
  if (block) {
    roomyLayout.legend = { ...layout.legend, y: 1 + (block.bottom + block.up) / high };
  } else if (layout.legend?.y !== undefined) {
    roomyLayout.legend = { ...layout.legend, y: up(layout.legend.y, 0) };
  }
  if (layout.updatemenus) {
    roomyLayout.updatemenus = layout.updatemenus.map((one) => ({ ...one, x: across(one.x ?? 0), y: up(one.y ?? 1) }));
  }
  // What is written into cells of a map has no room in small ones.
  const fitting = data.map((trace) => {
    if (trace.mode !== "text" || !data.some((one) => one.type === "heatmap" && one.xaxis === trace.xaxis)) {
      return trace;
    }
    const own = trace.textfont?.size ?? usual;
    const widest = Math.max(...[trace.text].flat().map((words) => inLines(words ?? "", own, family).widest));
    return unit(`xaxis${(trace.xaxis ?? "x").slice(1)}`, layout, drawn, pixels) < widest ? { ...trace, visible: false } : trace;
  });
  return { data: fitting, layout: roomyLayout };
}
