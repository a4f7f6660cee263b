// Shows the frames of plotly's figures and fits a figure to the screen that it is on.
//
// A frame is a whole picture: the figure as it was made, with the frame's attributes over it, drawn
// anew. Plotly's own animation lays a frame over what is on the screen and merges it by index.
// A real slider moves the frames, so keys, touch and screen readers work as they do elsewhere.
//
// Plotly takes some 30 ms to draw a figure, longer than a frame of a smooth drag may last. So a copy
// of each drawing is kept: while the slider moves, copies are shown, and where it rests plotly draws.

const NARROW = 640; // pixels of a figure: below, its panels stack
const HALF = 520; // from here on, figures that have a form for half a screen do not
const DESIGNED = [1280, 720]; // the screen that figures are made for
const LEAST_WIDE = 0.66, LEAST_HIGH = 0.8, MOST = 2; // how far a figure follows another screen
const LEAP = 10; // frames of Page Up and Page Down
const PAUSE = 60; // milliseconds between two frames that play
const QUIET = 200; // milliseconds without a move before the page is told where the slider rests
const REST = 150; // milliseconds without a move before plotly draws what a copy shows
const KEPT = 128; // copies of a figure, at most: each is some 600 nodes
// The toolbar would stand on numbers; the export row has all of it.
const CONFIG = { displayModeBar: false, doubleClick: "reset" };
const LABEL = 56; // pixels between two labels of the scale, at least

const STYLE = `
.figure-plot { position: relative; }
.frames-stage { position: fixed; top: 0; left: 0; visibility: hidden; pointer-events: none; }
.frames { position: absolute; left: 0; right: 0; bottom: 0; box-sizing: border-box;
  display: flex; flex-wrap: wrap; align-items: center; gap: 2px calc(8px + 0.5em); padding: 0 10px;
  color: var(--ink); font: calc(16px * var(--magnify, 1)) var(--font); }
.frames button { min-width: 44px; height: 32px; padding: 0 8px; font: inherit; color: inherit;
  background: var(--panel); border: 1px solid var(--muted); border-radius: 4px; cursor: pointer; }
.frames output { font-weight: 600; white-space: nowrap; min-width: var(--longest); }
.frames .scale { flex: 1 1 240px; position: relative;
  height: calc(28px + 24px * var(--magnify, 1)); }
.frames input { width: 100%; height: 28px; margin: 0; accent-color: var(--accent); cursor: pointer;
  touch-action: pan-y; }
.frames .scale span { position: absolute; top: 28px; transform: translateX(-50%);
  font-size: calc(14px * var(--magnify, 1)); color: var(--muted); white-space: nowrap; }
.frames :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media (width < ${NARROW}px) { .frames .scale { flex-basis: 100%; } }
[role=button] .updatemenu-item-text { fill: var(--menu-ink) !important; }
[role=button] .updatemenu-item-rect {
  fill: color-mix(in srgb, var(--menu-ink) 8%, var(--menu-paper)) !important; }
[role=button] .updatemenu-item-rect[style*="rgb(244, 250, 255)"] {
  fill: color-mix(in srgb, var(--menu-ink) 32%, var(--menu-paper)) !important; }
`;

const isPlain = (value) =>
  value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype
  && !("bdata" in value);

// The original with a patch over it; what is not a plain object is replaced whole. Neither changes.
function over(original, patch) {
  const result = { ...original };
  for (const [path, value] of Object.entries(patch)) {
    const [key, ...rest] = path.split(".");
    const part = rest.length ? { [rest.join(".")]: value } : value;
    result[key] = isPlain(part) ? over(isPlain(result[key]) ? result[key] : {}, part) : part;
  }
  return result;
}

// Lengths in pixels, by the name of the property; the rest of a figure has no fixed size.
const LENGTHS = new Set(
  "size width thickness ticklen standoff xshift yshift xpad ypad ax ay l r t b height pad xgap ygap arrowsize itemwidth"
    .split(" "),
);

function scaled(value, scale, key = "") {
  if (Array.isArray(value)) {
    return typeof value[0] === "object" || LENGTHS.has(key) ? value.map((one) => scaled(one, scale, key)) : value;
  }
  if (isPlain(value)) {
    if (value.xsizemode === "pixel" && value.path) {
      // A mark of its own size: its path is in pixels.
      const path = value.path.replace(/-?[\d.]+/g, (length) => length * scale);
      value = { ...value, path };
    }
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, scaled(one, scale, name)]));
  }
  if (typeof value === "string") {
    return value.replace(/font-size:\s*([\d.]+)px/g, (_, size) => `font-size:${size * scale}px`);
  }
  return typeof value === "number" && LENGTHS.has(key) ? value * scale : value;
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// How large type is, and how much higher a figure, on this screen.
function fit(width, plot, least) {
  const [wide, high] = [window.innerWidth / DESIGNED[0], window.innerHeight / DESIGNED[1]];
  const scale = wide < 1 ? Math.max(wide, LEAST_WIDE) : clamp(Math.min(wide, high), 1, MOST);
  const larger = Math.max(scale, 1);
  if (width < NARROW * larger) {
    return { narrow: true, scale: larger, height: larger };
  }
  const shown = hall(plot);
  if (shown && least) {
    return { narrow: false, scale: Math.min(scale * shown.larger, shown.whole / least), height: 1, ...shown };
  }
  return { narrow: false, scale, height: Math.max(scale * LEAST_HIGH, clamp(high, LEAST_HIGH, MOST)) };
}

// A figure in a box of a page or of a file, and the frame that it shows.
class Player {
  // `rest` hears where the slider rests, (value, setting); null for a figure that moves alone.
  constructor(box, rest = null) {
    dressed("frames-style", STYLE);
    this.rest = rest;
    this.plot = document.createElement("div");
    this.plot.className = "figure-plot";
    box.append(this.plot);
    players.set(this.plot, this);
    this.observer = new ResizeObserver(() => this.look());
    this.observer.observe(box);
  }

  // Shows another figure, {data, layout, frames}, at one of its frames.
  open(figure, place) {
    this.stop();
    this.cancel();
    const { frames = [], ...base } = figure;
    Object.assign(this, { base, frames, place, copies: new Map() });
    this.steps = base.layout.meta.steps;
    this.drawn = null;
    this.panel?.remove();
    this.panel = null;
    this.plot.style.minHeight = `${base.layout.meta.height}px`; // until it is drawn
    if (this.steps) {
      this.build();
    }
    this.look();
  }

  async end() {
    this.stop();
    this.cancel();
    clearTimeout(this.resting);
    this.observer.disconnect();
    players.delete(this.plot);
    this.base = null;
    await this.drawing; // at its end plotly tells of it
    window.Plotly.purge(this.plot);
    this.plot.remove();
  }

  // Draws where the figure, its frame or the screen is another one than what is drawn.
  look() {
    if (this.base && this.width() && this.state() !== this.drawn) {
      this.draw();
    }
  }

  state() {
    return JSON.stringify([this.place, this.fit(), this.width(), window.innerHeight]);
  }

  // The copies of frames as the figure looks now: on this screen, from this angle.
  kept() {
    const look = JSON.stringify([this.fit(), this.width(), this.turner?.angle]);
    if (look !== this.lookCopied) {
      this.lookCopied = look;
      this.copies = new Map();
    }
    return this.copies;
  }

  fit() {
    return fit(this.width(), this.plot, this.base.layout.meta.hall?.least);
  }

  // 0 where the page does not show it.
  width() {
    return this.plot.getBoundingClientRect().width;
  }

  // The whole figure of a frame, as it fits the screen.
  figure(place = this.place) {
    const { narrow, scale, height, whole } = this.fit();
    const { data, layout: own, template, more } = this.framed(place);
    const { meta } = this.base.layout;
    let layout = own;
    layout.height = meta.height;
    if (narrow) {
      const form = meta.half && this.width() >= HALF * scale ? "half" : "narrow";
      layout = over(over(layout, meta[form] ?? {}), more?.[form] ?? {});
    } else if (whole) {
      layout = over(over(layout, fitted(meta.hall, whole / scale)), more?.hall ?? {});
    }
    layout.height = Math.round(layout.height * (whole ? scale : height));
    if (scale !== 1) {
      const { height: exact } = layout;
      layout = { ...scaled(layout, scale), height: exact };
    }
    layout.template = scale === 1 ? template : scaled(template, scale);
    layout.meta = meta;
    layout.width = this.width();
    const traces = scale === 1 ? data : data.map((trace) => scaled(trace, scale));
    return { data: traces, layout };
  }

  // The figure as it was made with a frame over it; what the frame has `more` for other forms.
  framed(place) {
    const frame = this.frames[place] ?? {};
    const data = [...this.base.data];
    (frame.data ?? []).forEach((patch, index) => {
      const trace = frame.traces?.[index] ?? index;
      data[trace] = over(data[trace], patch);
    });
    const { meta, template, ...own } = this.base.layout;
    const { meta: more, ...changes } = frame.layout ?? {};
    // By its own name each trace is found in what plotly draws.
    const named = data.map((trace, number) => ({ ...trace, uid: `n${number}` }));
    return {
      data: this.turner?.turned(named) ?? named, layout: over(structuredClone(own), changes), template, more,
    };
  }

  async draw() {
    if (!this.base) {
      return; // its page is left
    }
    const { place } = this;
    const state = (this.drawn = this.state());
    clearTimeout(this.resting);
    this.uncover();
    this.follower();
    await this.react(this.plot, place);
    if (this.drawn !== state || !players.has(this.plot)) {
      return; // another frame is drawn by now, or none
    }
    this.plot.style.minHeight = "";
    if (!this.turner) {
      this.turner = new Turner(this.plot, () => this.draw());
      this.plot.on("plotly_afterplot", () => reachable(this.plot));
    }
    reachable(this.plot);
    this.keep(place, this.plot);
  }

  // Lets plotly draw a frame, in the figure's own place or in another one.
  async react(plot, place) {
    const { data, layout } = this.figure(place);
    this.drawing = window.Plotly.react(plot, data, layout, CONFIG);
    await this.drawing;
    if (this.fit().narrow) {
      within(plot);
    }
  }

  // The frame on the screen as a file, as an address of data: as it was made, without what moves it.
  image({ format, width, height, scale }) {
    const { data, layout, template } = this.framed(this.place);
    const { steps } = this;
    const strip = steps ? steps.strip : 0;
    delete layout.updatemenus;
    Object.assign(layout, {
      template, margin: { ...layout.margin, b: layout.margin.b - strip },
      width: layout.width ?? width, height: (layout.height ?? height) - strip,
    });
    return window.Plotly.toImage({ data, layout, config: CONFIG }, {
      format, scale, width: layout.width, height: layout.height,
    });
  }

  // Copies.

  keep(place, plot) {
    const copies = this.kept();
    if (this.steps && !copies.has(place) && copies.size < KEPT) {
      const copy = plot.querySelector(".svg-container").cloneNode(true);
      Object.assign(copy, { className: "frames-copy", inert: true });
      Object.assign(copy.style, { position: "absolute", top: 0, left: 0 });
      copies.set(place, copy);
    }
  }

  // A frame while the slider moves: a copy takes the place of what plotly has drawn.
  show() {
    const copy = this.kept().get(this.place);
    if (!copy) {
      this.draw();
      return;
    }
    this.own ??= this.plot.querySelector(".svg-container");
    (this.cover ?? this.own).replaceWith(copy);
    this.cover = copy;
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.plot.isConnected && this.draw(), REST);
  }

  uncover() {
    this.cover?.replaceWith(this.own);
    this.cover = this.own = null;
  }

  // Draws frames beforehand and out of sight, the next ones first, while a hand is at the slider
  // and rests.
  async prepare() {
    if (this.stage) {
      return;
    }
    const copies = this.kept();
    this.stage = document.createElement("div");
    this.stage.className = "frames-stage";
    document.documentElement.append(this.stage);
    const away = (place) => Math.abs(place - this.place);
    for (;;) {
      await new Promise(requestAnimationFrame);
      if (copies !== this.kept() || !this.panel?.matches(":hover, :focus-within")) {
        break;
      }
      if (performance.now() - this.moved < REST) {
        continue;
      }
      const left = [...this.frames.keys()].filter((place) => !copies.has(place));
      if (!left.length || copies.size >= KEPT) {
        break;
      }
      const place = left.reduce((one, other) => (away(other) < away(one) ? other : one));
      await this.react(this.stage, place);
      if (copies === this.kept()) {
        this.keep(place, this.stage);
      }
    }
    window.Plotly.purge(this.stage);
    this.stage.remove();
    this.stage = null;
  }

  go(place) {
    if (this.move(clamp(place, 0, this.frames.length - 1))) {
      this.rests();
    }
  }

  // Whether there was a way to go.
  move(place) {
    if (place === this.place) {
      return false;
    }
    this.place = place;
    this.moved = performance.now();
    this.tell();
    // While one picture is drawn, others are passed over.
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      if (this.plot.isConnected) {
        this.show();
      }
    });
    return true;
  }

  // The slider, with what stands at it.

  build() {
    const { labels, prefix, buttons } = this.steps;
    this.labeled = null;
    const look = this.base.layout.template?.layout ?? {};
    const panel = document.createElement("div");
    panel.className = "frames";
    const longest = Math.max(...labels.map((label) => `${prefix}${label}`.length));
    for (const [name, value] of Object.entries({
      ink: look.font?.color, font: look.font?.family, muted: look.xaxis?.tickfont?.color,
      panel: this.steps.panel, accent: this.steps.accent, longest: `${0.5 * longest}em`,
    })) {
      panel.style.setProperty(`--${name}`, value);
    }
    for (const [label, title, act] of buttons ? this.actions(buttons) : []) {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", textContent: label, title, onclick: act });
      button.setAttribute("aria-label", title);
      panel.append(button);
    }
    this.output = document.createElement("output");
    this.range = document.createElement("input");
    Object.assign(this.range, { type: "range", min: 0, max: labels.length - 1, step: 1, value: this.place });
    this.range.setAttribute("aria-label", plain(prefix).replace(/[\s=:]+$/, "") || "frame");
    this.range.oninput = () => {
      this.stop();
      this.go(Number(this.range.value));
    };
    this.range.onkeydown = (event) => {
      const leap = { PageUp: LEAP, PageDown: -LEAP }[event.key];
      if (leap) {
        event.preventDefault();
        this.stop();
        this.go(this.place + leap);
      }
    };
    const scale = document.createElement("div");
    scale.className = "scale";
    this.scale = scale;
    scale.append(this.range);
    panel.append(this.output, scale);
    for (const near of ["pointerenter", "focusin"]) {
      panel.addEventListener(near, () => this.prepare());
    }
    this.plot.append(panel);
    this.panel = panel;
    this.tell();
    this.follower();
  }

  actions({ rewind, back, play, pause, step }) {
    return [
      ["❙◀", rewind, () => { this.stop(); this.go(0); }],
      ["◀", back, () => { this.stop(); this.go(this.place - 1); }],
      ["▶", play, () => this.play()],
      ["❚❚", pause, () => this.stop()],
      ["▶❙", step, () => { this.stop(); this.go(this.place + 1); }],
    ];
  }

  // As many labels at the scale as have room, the ends always.
  follower() {
    if (!this.panel) {
      return;
    }
    const { labels } = this.steps;
    const width = this.scale.clientWidth || 300;
    const last = labels.length - 1;
    if (width === this.labeled) {
      return;
    }
    this.labeled = width;
    this.scale.querySelectorAll("span").forEach((label) => label.remove());
    const longest = Math.max(...labels.map((label) => plain(label).length));
    const gap = Math.max(LABEL, 9 * longest + 10);
    const every = Math.max(1, Math.ceil((last * gap) / width));
    labels.forEach((label, place) => {
      if (place === last || (place % every === 0 && last - place >= every)) {
        const span = document.createElement("span");
        span.textContent = plain(label);
        // The thumb keeps half its width from the ends.
        span.style.left = `calc(8px + ${place / Math.max(last, 1)} * (100% - 16px))`;
        span.setAttribute("aria-hidden", "true");
        this.scale.append(span);
      }
    });
  }

  tell() {
    const { labels, prefix, setting, values } = this.steps;
    const words = `${plain(prefix)}${plain(labels[this.place])}`;
    this.output.textContent = words;
    this.range.value = this.place;
    this.range.setAttribute("aria-valuetext", words);
    if (this.follows(setting)) {
      // What stands beside a figure of a page hears of the frame on the screen.
      const detail = { setting, value: values[this.place] };
      document.dispatchEvent(new CustomEvent("frameshown", { detail }));
    }
  }

  // Whether the figure moves with others, and tells the page where a setting rests.
  follows(setting) {
    return Boolean(this.rest && setting && this.steps?.setting === setting);
  }

  play() {
    this.stop();
    if (this.place === this.frames.length - 1) {
      this.go(0);
    }
    this.playing = setInterval(() => {
      this.go(this.place + 1);
      if (this.place === this.frames.length - 1 || !this.plot.isConnected) {
        this.stop();
      }
    }, PAUSE);
  }

  stop() {
    clearInterval(this.playing);
  }

  rests() {
    if (this.follows(this.steps.setting)) {
      this.cancel();
      this.following = setTimeout(() => this.settle(), QUIET);
    }
  }

  cancel() {
    clearTimeout(this.following);
    this.following = null;
  }

  // Tells the page where the slider rests, if that is not told yet. Other figures of the page that
  // show the setting move there.
  settle() {
    if (!this.following) {
      return;
    }
    this.cancel();
    const { setting, values } = this.steps;
    const value = values[this.place];
    for (const other of players.values()) {
      const place = other.follows(setting) ? other.steps.values.indexOf(value) : -1;
      if (place >= 0) {
        other.move(place);
      }
    }
    this.rest(value, setting);
  }
}

// All figures, by what plotly draws in.
const players = (window.framePlayers = new Map());

window.addEventListener("resize", () => players.forEach((player) => player.look()));
// What a hand does elsewhere meets a page that knows where the slider rests.
for (const hand of ["pointerdown", "keydown"]) {
  window.addEventListener(hand, ({ target }) => players.forEach((player) => {
    if (!player.panel?.contains(target)) {
      player.settle();
    }
  }), true);
}

// Makes words smaller that would leave a figure on the right: where its font is missing, another one
// is wider.
function within(plot) {
  const edge = plot.querySelector(".main-svg").getBoundingClientRect().right;
  const words = [...plot.querySelectorAll(".infolayer text")];
  const wide = words.map((one) => [one, one.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0 && box.right > edge)
    .flatMap(([one, { right, width }]) => {
      const over = (right - edge) * (getComputedStyle(one).textAnchor === "middle" ? 2 : 1);
      // What has a size of its own is made smaller by as much.
      return [one, ...one.querySelectorAll("[style*=font-size]")]
        .map((part) => [part, (parseFloat(getComputedStyle(part).fontSize) * (width - over)) / width]);
    });
  wide.forEach(([part, size]) => {
    part.style.fontSize = `${Math.floor(10 * size) / 10}px`;
  });
}

// A choice in a figure is a drawing to plotly: it becomes a button that keys reach. Plotly paints the
// chosen one nearly white in any theme, which the style sheet mends.
function reachable(plot) {
  const { font, paper_bgcolor: paper } = plot.layout.template?.layout ?? {};
  Object.entries({ ink: font?.color, paper }).forEach(([name, color]) => plot.style.setProperty(`--menu-${name}`, color));
  for (const button of plot.querySelectorAll(".updatemenu-button")) {
    if (button.getAttribute("role") !== "button") {
      button.setAttribute("role", "button");
      button.setAttribute("tabindex", 0);
      button.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          button.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        }
      });
    }
    button.setAttribute("aria-label", button.textContent);
  }
}

const plain = (words) => new DOMParser().parseFromString(words, "text/html").body.textContent;

// A style sheet for the page, once.
function dressed(id, css) {
  if (!document.getElementById(id)) {
    const style = document.createElement("style");
    Object.assign(style, { id, textContent: css });
    document.head.append(style);
  }
}
