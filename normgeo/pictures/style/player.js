// Shows the frames of plotly's figures and fits a figure to the screen that it is on.
//
// A frame is a whole picture: the figure as it was made, with the frame's attributes over it, drawn
// anew. Plotly's own animation lays a frame over what is on the screen and merges it by index.
// A real slider moves the frames, so keys, touch and screen readers work as they do elsewhere.
// Plotly takes 25 to 50 ms of a processor to draw one, so that a hand which passes the dozen frames of
// a slider within half a second sees each.

const NARROW = 640; // pixels of a figure: below, its panels stack
const HALF = 520; // from here on, figures that have a form for half a screen do not
const DESIGNED = [1280, 720]; // the screen that figures are made for
const ALONE = 800; // pixels of a figure that is shown alone, or in a hall, in type of its own size
const LEAST_WIDE = 0.66, LEAST_HIGH = 0.8, MOST = 2; // how far a figure follows another screen
const QUIET = 200; // milliseconds without a move before the page is told where the slider rests
// The toolbar would stand on numbers; Share has all of it.
const CONFIG = { displayModeBar: false, doubleClick: "reset" };

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// How large type is, and how much higher a figure, on this screen.
function fit(width, plot, meta) {
  const [wide, high] = [window.innerWidth / DESIGNED[0], window.innerHeight / DESIGNED[1]];
  const scale = wide < 1 ? Math.max(wide, LEAST_WIDE) : clamp(Math.min(wide, high), 1, MOST);
  const stacked = Math.max(scale, 1);
  if (width < NARROW * stacked) {
    const half = meta.half && width >= HALF * stacked;
    return { narrow: true, scale: stacked, height: stacked, form: half ? "half" : "narrow" };
  }
  const shown = hall(plot);
  const form = shown?.larger > 1 && meta.slide ? "slide" : "hall";
  if (shown && meta[form]) {
    const larger = Math.max(scale * shown.larger, Math.min(width / ALONE, 1));
    return { narrow: false, scale: Math.min(larger, shown.whole / meta[form].least), height: 1, form, ...shown };
  }
  return { narrow: false, scale, height: Math.max(scale * LEAST_HIGH, clamp(high, LEAST_HIGH, MOST)) };
}

// A figure in a box of a page or of a file, and the frame that it shows.
class Player {
  // `rest` hears where the slider rests, (value, setting); null for a figure that moves alone.
  constructor(box, rest = null) {
    this.rest = rest;
    this.plot = document.createElement("div");
    this.plot.className = "figure-plot";
    this.plot.style.position = "relative";
    box.append(this.plot);
    players.set(this.plot, this);
    this.observer = new ResizeObserver(() => this.look());
    this.observer.observe(box);
  }

  // Shows another figure, {data, layout, frames}, at one of its frames.
  open(figure, place) {
    this.stop();
    const { frames = [], ...base } = figure;
    Object.assign(this, { base, frames, place });
    this.steps = base.layout.meta.steps;
    this.drawn = null;
    this.slider?.end();
    this.slider = null;
    this.plot.style.minHeight = `${base.layout.meta.height}px`; // until it is drawn
    if (this.steps) {
      this.slider = new Slider(this, base.layout.template?.layout ?? {});
      this.tell();
    }
    this.look();
  }

  async end() {
    this.stop();
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

  fit() {
    return fit(this.width(), this.plot, this.base.layout.meta);
  }

  // 0 where the page does not show it.
  width() {
    return this.plot.getBoundingClientRect().width;
  }

  // The whole figure of a frame, as it fits the screen.
  figure(place = this.place) {
    const { scale, height, whole, form } = this.fit();
    const { data: every, layout: own, template, more } = this.framed(place);
    const { meta } = this.base.layout;
    let layout = { ...own, height: meta.height };
    if (form) {
      const shown = whole ? fitted(meta[form], whole / scale) : meta[form];
      layout = over(layout, { ...shown, ...more?.[form] });
    }
    const absent = meta[form]?.absent ?? [];
    const data = every.map((one) => (absent.includes(one.xaxis ?? "x") ? { ...one, visible: false } : one));
    layout.height = Math.round(layout.height * (whole ? scale : height));
    if (scale !== 1) {
      const { height: exact } = layout;
      layout = { ...scaled(layout, scale), height: exact };
    }
    layout.template = scale === 1 ? template : scaled(template, scale);
    layout.meta = meta;
    layout.width = this.width();
    const traces = scale === 1 ? data : data.map((trace) => scaled(trace, scale));
    return { data: apart(traces), layout };
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
    const { narrow, scale } = this.fit();
    this.plot.classList.toggle("narrow", narrow);
    this.plot.style.setProperty("--scale", scale);
    this.slider?.label();
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
  }

  async react(plot, place) {
    const { data, layout } = this.figure(place);
    this.drawing = window.Plotly.react(plot, data, layout, CONFIG);
    await this.drawing;
  }

  // The frame on the screen as a file: as it was made, without what moves it.
  image({ format, width, height, scale }) {
    const { data, layout, template } = this.framed(this.place);
    const strip = this.steps?.strip ?? 0;
    delete layout.updatemenus;
    Object.assign(layout, { template, margin: { ...layout.margin, b: layout.margin.b - strip } });
    const size = { width: layout.width ?? width, height: (layout.height ?? height) - strip };
    Object.assign(layout, size);
    return imageOf({ data, layout }, { format, scale, ...size });
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
    this.tell();
    // While one picture is drawn, others are passed over.
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      if (this.plot.isConnected) {
        this.draw();
      }
    });
    return true;
  }

  // What stands beside a figure of a page hears of the frame on the screen.
  tell() {
    this.slider.show(this.place);
    const { setting, values } = this.steps;
    if (this.follows(setting)) {
      const detail = { setting, value: values[this.place] };
      document.dispatchEvent(new CustomEvent("frameshown", { detail }));
    }
  }

  // Whether the figure moves with others, and tells the page where a setting rests.
  follows(setting) {
    return Boolean(this.rest && setting && this.steps?.setting === setting);
  }

  stop() {
    this.slider?.stop();
    this.cancel();
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
// Who goes back has left the page: a report would bring it back.
window.addEventListener("popstate", () => players.forEach((player) => player.stop()));
// What a hand does elsewhere meets a page that knows where the slider rests.
for (const hand of ["pointerdown", "keydown"]) {
  window.addEventListener(hand, ({ target }) => players.forEach((player) => {
    if (!player.slider?.panel.contains(target)) {
      player.settle();
    }
  }), true);
}

// A style sheet for the page, once.
function dressed(id, css) {
  if (!document.getElementById(id)) {
    const style = document.createElement("style");
    Object.assign(style, { id, textContent: css });
    document.head.append(style);
  }
}
