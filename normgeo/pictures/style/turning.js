// Turns points in space: draws what a trace keeps in `customdata` as seen from another angle.
//
// Plotly needs a tenth of a second to draw a figure: while a hand turns, only the marks move that are
// on the screen, and plotly draws at the angle where it rests.

const REST = 150; // milliseconds without a turn before plotly draws

const TURN_STYLE = `
.turn { position: absolute; top: 0; right: 0; display: flex; align-items: center; gap: 2px;
  padding: 2px; border-radius: 4px; color: var(--ink); font: calc(14px * var(--magnify, 1)) var(--font); }
.turn button { min-width: calc(32px * var(--magnify, 1)); height: calc(32px * var(--magnify, 1)); padding: 0;
  font-size: calc(16px * var(--magnify, 1)); font-family: inherit; color: inherit;
  background: none; border: 1px solid var(--muted); border-radius: 4px; cursor: pointer; }
.turn span { padding-right: 6px; color: var(--muted); }
.turn:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px; }
.turns .nsewdrag { cursor: grab; touch-action: pan-y; }
.turns.held .nsewdrag { cursor: grabbing; }
`;

// Numbers as plotly's Python writes them: a list, or bytes.
function numbers(found) {
  if (!found.bdata) {
    return [...found];
  }
  const kinds = { f8: Float64Array, f4: Float32Array, i4: Int32Array, i2: Int16Array, i1: Int8Array };
  Object.assign(kinds, { u4: Uint32Array, u2: Uint16Array, u1: Uint8Array });
  return [...new kinds[found.dtype](Uint8Array.from(atob(found.bdata), (byte) => byte.charCodeAt(0)).buffer)];
}

// One figure, and the angle that it is seen from.
class Turner {
  static STEP = 5; // degrees of a key or a button
  static PER_PIXEL = 0.5; // degrees of a drag

  constructor(plot, rest) {
    dressed("turn-style", TURN_STYLE);
    Object.assign(this, { plot, rest });
    plot.on("plotly_afterplot", () => this.seen());
    plot.addEventListener("pointerdown", (event) => this.hold(event));
    this.seen();
  }

  // Plotly has drawn the figure.
  seen() {
    const { plot } = this;
    const made = plot.layout.meta?.turning;
    plot.classList.toggle("turns", Boolean(made));
    if (!made) {
      this.panel?.remove();
      this.panel = this.made = null;
      return;
    }
    this.azimuth ??= made.azimuth;
    this.elevation ??= made.elevation;
    this.made = made;
    if (!this.panel?.isConnected) {
      this.build();
    }
  }

  // What the figure is seen from, in words for a comparison.
  get angle() {
    return `${this.azimuth} ${this.elevation}`;
  }

  // The traces of a figure as seen from the angle.
  turned(data) {
    if (!this.made || this.angle === `${this.made.azimuth} ${this.made.elevation}`) {
      return data;
    }
    return data.map((trace) => (trace.meta?.middle ? { ...trace, ...this.flat(trace, data) } : trace));
  }

  // The x and y of a trace as seen from the angle.
  flat({ customdata, meta: { middle, between } }, data) {
    if (between) {
      const [from, to] = between.map((other) => this.flat(data[other], data));
      const pairs = (side) => from[side].flatMap((one, n) => [one, to[side][n], NaN]);
      return { x: pairs("x"), y: pairs("y") };
    }
    const [a, e] = [this.azimuth, this.elevation].map((degrees) => (degrees * Math.PI) / 180);
    const rays = {
      x: [-Math.sin(a), Math.cos(a), 0],
      y: [-Math.cos(a) * Math.sin(e), -Math.sin(a) * Math.sin(e), Math.cos(e)],
    };
    const all = numbers(customdata).flat();
    const seen = (ray) => Array.from({ length: all.length / 3 }, (_, n) =>
      ray.reduce((sum, share, d) => sum + share * (all[3 * n + d] - middle[d]), 0));
    return { x: seen(rays.x), y: seen(rays.y) };
  }

  // Moves the marks that are on the screen.
  draw() {
    const { plot } = this;
    for (const trace of plot.data) {
      const group = trace.meta?.middle && plot.querySelector(`.trace${trace.uid}`);
      if (group) {
        const { pixels } = panelOf(plot, [trace.xaxis, trace.yaxis]);
        const { x, y } = this.flat(trace, plot.data);
        const places = x.map((one, n) => pixels([one, y[n]]));
        const there = numbers(trace.x).flatMap((one, n) => (Number.isFinite(one) ? [n] : []));
        lines(group, places);
        marks(group, places, there, trace.text);
      }
    }
    clearTimeout(this.resting);
    this.resting = setTimeout(this.rest, REST);
  }

  turn(right, up) {
    this.azimuth = (this.azimuth + right) % 360;
    this.elevation = Math.min(Math.max(this.elevation + up, -90), 90);
    // While one picture is drawn, others are passed over.
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      this.draw();
    });
  }

  back() {
    this.turn(this.made.azimuth - this.azimuth, this.made.elevation - this.elevation);
  }

  hold(event) {
    const { plot } = this;
    if (!this.made || event.button || !event.target.closest(".nsewdrag")) {
      return;
    }
    let [x, y] = [event.clientX, event.clientY];
    const move = (next) => {
      this.turn((x - next.clientX) * Turner.PER_PIXEL, (next.clientY - y) * Turner.PER_PIXEL);
      [x, y] = [next.clientX, next.clientY];
    };
    const end = () => {
      plot.classList.remove("held");
      window.removeEventListener("pointermove", move);
      ["pointerup", "pointercancel"].forEach((name) => window.removeEventListener(name, end));
    };
    plot.classList.add("held");
    window.addEventListener("pointermove", move);
    ["pointerup", "pointercancel"].forEach((name) => window.addEventListener(name, end));
  }

  // One stop of the Tab key; the buttons are for hands that cannot drag.
  build() {
    const { plot, made } = this;
    const { words } = made;
    const look = plot.layout.template?.layout ?? {};
    const panel = document.createElement("div");
    panel.className = "turn";
    panel.tabIndex = 0;
    panel.setAttribute("role", "application");
    panel.setAttribute("aria-label", words.label);
    for (const [name, value] of Object.entries({
      ink: look.font?.color, font: look.font?.family, muted: look.xaxis?.tickfont?.color,
    })) {
      panel.style.setProperty(`--${name}`, value);
    }
    const hint = document.createElement("span");
    hint.textContent = words.hint;
    panel.append(hint);
    const { STEP } = Turner;
    const acts = {
      ArrowLeft: ["←", words.left, () => this.turn(-STEP, 0)],
      ArrowRight: ["→", words.right, () => this.turn(STEP, 0)],
      ArrowUp: ["↑", words.up, () => this.turn(0, STEP)],
      ArrowDown: ["↓", words.down, () => this.turn(0, -STEP)],
      Home: ["⟲", words.back, () => this.back()],
    };
    for (const [sign, title, act] of Object.values(acts)) {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", textContent: sign, title, onclick: act, tabIndex: -1 });
      button.setAttribute("aria-label", title);
      panel.append(button);
    }
    panel.addEventListener("keydown", (event) => {
      if (acts[event.key]) {
        event.preventDefault();
        acts[event.key][2]();
      }
    });
    plot.append(panel);
    this.panel = panel;
  }
}

// Moves the lines of a trace: all pieces as one path, the rest of its paths empty.
function lines(group, places) {
  let path = "", begun = false;
  for (const [x, y] of places) {
    path += Number.isFinite(x) ? `${begun ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}` : "";
    begun = Number.isFinite(x);
  }
  for (const kind of [".js-line", ".js-fill"]) {
    group.querySelectorAll(kind).forEach((line, n) => line.setAttribute("d", n || !path ? "M0,0" : path));
  }
}

// Moves the points and the words of a trace, which plotly draws in their order where there are any.
function marks(group, places, there, text) {
  group.querySelectorAll(".point").forEach((point, n) => {
    point.setAttribute("transform", `translate(${places[there[n]]})`);
  });
  const said = there.filter((n) => (Array.isArray(text) ? text[n] : text));
  group.querySelectorAll(".textpoint text").forEach((words, n) => {
    const [x, y] = places[said[n]];
    words.setAttribute("x", x);
    words.setAttribute("y", y);
  });
}
