// Turns points in space: draws what a trace keeps in `customdata` as seen from another angle.
//
// plotly draws a figure at the angle that it was made for, and needs a tenth of a second for it.
// Here only the marks that are on the screen move, so the data of the figure stay as they are.

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

// One figure, and the angle that it is seen from.
class Turner {
  static STEP = 5; // degrees of a key or a button
  static PER_PIXEL = 0.5; // degrees of a drag

  constructor(plot) {
    dressed("turn-style", TURN_STYLE);
    this.plot = plot;
    plot.on("plotly_afterplot", () => this.seen());
    plot.addEventListener("pointerdown", (event) => this.hold(event));
    this.seen();
  }

  // plotly has drawn the figure, at the angle that it was made for.
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
    this.follow(plot);
  }

  // Turns what plotly has drawn at the angle that the figure was made for.
  follow(plot) {
    if (this.made && this.angle !== `${this.made.azimuth} ${this.made.elevation}`) {
      this.draw(plot);
    }
  }

  // What the figure is seen from, in words for a comparison.
  get angle() {
    return `${this.azimuth} ${this.elevation}`;
  }

  // Draws the figure, or another drawing of it, as seen from the angle.
  draw(plot = this.plot) {
    const { _fullData: traces, _fullLayout: layout, calcdata } = plot;
    const [a, e] = [this.azimuth, this.elevation].map((degrees) => (degrees * Math.PI) / 180);
    const right = [-Math.sin(a), Math.cos(a), 0];
    const up = [-Math.cos(a) * Math.sin(e), -Math.sin(a) * Math.sin(e), Math.cos(e)];
    traces.forEach((trace, place) => {
      const { middle, between } = trace.meta ?? {};
      const group = middle && plot.querySelector(`.trace${trace.uid}`);
      if (!group) {
        return;
      }
      const axes = [trace.xaxis, trace.yaxis].map((name) => layout[`${name[0]}axis${name.slice(1)}`]);
      const flat = (point) => [right, up].map((ray) => ray.reduce((sum, share, d) => sum + share * (point[d] - middle[d]), 0));
      const points = (of) => Array.from(traces[of].customdata, flat);
      const pixels = ([x, y]) => [axes[0].c2p(x), axes[1].c2p(y)];
      let seen = between ? [] : points(place);
      if (between) {
        const [from, to] = between.map(points);
        seen = from.flatMap((point, n) => [point, to[n], [NaN, NaN]]);
      }
      lines(group, seen.map(pixels));
      marks(group, seen.map(pixels));
      // Where the labels of a hovering mouse look for points.
      for (const point of calcdata[place]) {
        if (point.i in seen) {
          [point.x, point.y] = seen[point.i];
        }
      }
    });
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

// Moves the points and the words of a trace; plotly keeps with each which one it is.
function marks(group, places) {
  for (const point of group.querySelectorAll(".point")) {
    point.setAttribute("transform", `translate(${places[point.__data__.i]})`);
  }
  for (const words of group.querySelectorAll(".textpoint text")) {
    const [x, y] = places[words.__data__.i];
    words.setAttribute("x", x);
    words.setAttribute("y", y);
  }
}
