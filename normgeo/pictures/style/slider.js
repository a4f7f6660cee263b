// The slider at the foot of a figure, with a button that plays its frames. Beneath panels that stack it
// stays at the foot of the screen, so that a hand has it wherever the figure is seen.

const LEAP = 10; // frames of Page Up and Page Down
const PLAYED = 6000; // milliseconds from the first frame to the last
const LABEL = 40; // pixels between two labels of the scale, at least

const SLIDER_STYLE = `
.frames { position: absolute; left: 0; right: 0; bottom: 0; box-sizing: border-box;
  display: flex; flex-wrap: wrap; gap: 2px calc(8px + 0.5em); padding: 0 10px;
  color: var(--ink); font: 16px var(--font);
  zoom: max(1, var(--scale, 1), var(--magnify, 1)); }
.frames button { min-width: 36px; height: 28px; padding: 0; font: inherit; font-size: 1.2em;
  line-height: 1; color: inherit;
  background: var(--panel); border: 1px solid var(--muted); border-radius: 4px; cursor: pointer; }
.frames output { font-weight: 600; white-space: nowrap; min-width: var(--longest); line-height: 28px; }
.frames .scale { flex: 1 1 200px; position: relative; height: 52px; }
.frames input { width: 100%; height: 28px; margin: 0; accent-color: var(--accent); cursor: pointer;
  touch-action: pan-y; }
.frames .scale span { position: absolute; top: 28px; transform: translateX(-50%); font-size: 14px;
  color: var(--muted); white-space: nowrap; cursor: pointer; }
.frames :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.frames input:focus-visible { outline-offset: -2px; }
.figure-plot.narrow { display: flex; flex-direction: column; }
.narrow .frames { position: sticky; z-index: 1; order: 1; bottom: var(--foot, 0px); padding: 4px 10px 2px;
  background: var(--paper); box-shadow: 0 -5px 5px -5px var(--muted); }
@media (width < ${NARROW}px) {
  .frames output { flex-basis: 100%; order: -1; line-height: 24px; }
  .frames.single .scale { flex-basis: 100%; }
}
`;

class Slider {
  // `look` is what the figure's template lays out.
  constructor(player, look) {
    dressed("frames-style", SLIDER_STYLE);
    this.player = player;
    const { labels, prefix, buttons, single, panel: paper, accent } = player.steps;
    this.names = buttons;
    this.labels = labels.map(plain);
    this.words = this.labels.map((label) => `${plain(prefix)}${label}`);
    this.last = labels.length - 1;
    const panel = make("div", { className: single ? "frames single" : "frames" });
    const longest = Math.max(...this.words.map((words) => words.length));
    for (const [name, value] of Object.entries({
      ink: look.font?.color, font: look.font?.family, muted: look.xaxis?.tickfont?.color,
      paper: look.paper_bgcolor, panel: paper, accent, longest: `${0.5 * longest}em`,
    })) {
      panel.style.setProperty(`--${name}`, value);
    }
    const button = (sign, name, onclick) => named(make("button", { type: "button", onclick }), sign, name);
    const by = (frames) => () => this.go(player.place + frames);
    this.button = button("", "", () => (calm.matches ? this.step() : this.playing ? this.stop() : this.play()));
    panel.append(...(single ? [
      button("❙◀", buttons.rewind, () => this.go(0)),
      button("◀", buttons.back, by(-1)),
      this.button,
      button("▶❙", buttons.step, by(1)),
    ] : [this.button]));
    this.output = make("output");
    this.range = make("input", { type: "range", min: 0, max: this.last, step: 1 });
    this.range.setAttribute("aria-label", plain(prefix).replace(/[\s=:]+$/, "") || "frame");
    this.range.oninput = () => this.go(Number(this.range.value));
    this.range.onpointerdown = () => this.stop();
    this.range.onkeydown = (event) => {
      const leap = { PageUp: LEAP, PageDown: -LEAP }[event.key];
      if (leap) {
        event.preventDefault();
        this.go(player.place + leap);
      }
    };
    this.scale = make("div", { className: "scale" });
    this.scale.append(this.range);
    panel.append(this.output, this.scale);
    player.plot.append(panel);
    this.panel = panel;
    this.tell();
  }

  end() {
    this.stop();
    this.panel.remove();
  }

  show(place) {
    this.output.textContent = this.words[place];
    this.range.value = place;
    this.range.setAttribute("aria-valuetext", this.words[place]);
  }

  // As many labels at the scale as have room: the ends, and from the frame that opens every so many.
  label() {
    const { labels, last } = this, { start } = this.player.steps;
    const width = this.scale.clientWidth || 300;
    if (width === this.labeled) {
      return;
    }
    this.labeled = width;
    this.scale.querySelectorAll("span").forEach((label) => label.remove());
    const gap = Math.max(LABEL, 8 * Math.max(...labels.map((label) => label.length)) + 10);
    const every = Math.max(1, Math.ceil((last * gap) / width));
    labels.forEach((textContent, place) => {
      const between = (place - start) % every === 0 && place >= every && last - place >= every;
      if (place === 0 || place === last || between) {
        const span = make("span", { textContent, onclick: () => this.go(place) });
        // The thumb keeps half its width from the ends.
        span.style.left = `calc(8px + ${place / Math.max(last, 1)} * (100% - 16px))`;
        span.setAttribute("aria-hidden", "true");
        this.scale.append(span);
      }
    });
  }

  go(place) {
    this.stop();
    this.player.go(place);
  }

  // Python hears of the frame at which it comes to rest, not of those on the way.
  play() {
    const { player } = this;
    this.stop();
    if (player.place === this.last) {
      player.move(0);
    }
    const next = () => {
      player.move(player.place + 1);
      if (player.place === this.last || !this.panel.isConnected) {
        this.stop();
      }
    };
    this.playing = setInterval(next, PLAYED / Math.max(this.last, 1));
    this.keys = new AbortController();
    // A key that presses the button stops it by that.
    const key = ({ target, key }) => (target === this.button && [" ", "Enter"].includes(key)) || this.stop();
    window.addEventListener("keydown", key, { capture: true, signal: this.keys.signal });
    this.tell();
  }

  // For who wants nothing to move by itself.
  step() {
    this.go(this.player.place === this.last ? 0 : this.player.place + 1);
  }

  stop() {
    if (this.playing) {
      clearInterval(this.playing);
      this.keys.abort();
      this.playing = null;
      this.tell();
      this.player.rests();
    }
  }

  tell() {
    const { play, pause, step } = this.names;
    named(this.button, ...(calm.matches ? ["▶❙", step] : this.playing ? ["❚❚", pause] : ["▶", play]));
    this.output.setAttribute("aria-live", this.playing ? "off" : "polite");
  }
}

const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);

function named(button, sign, name) {
  Object.assign(button, { textContent: sign, title: name, ariaLabel: name });
  return button;
}

const plain = (words) => new DOMParser().parseFromString(words, "text/html").body.textContent;
