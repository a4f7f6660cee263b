// The slider at the foot of a figure, with its buttons where frames play.

const LEAP = 10; // frames of Page Up and Page Down
const PAUSE = 60; // milliseconds between two frames that play
const LABEL = 56; // pixels between two labels of the scale, at least

const SLIDER_STYLE = `
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
`;

class Slider {
  // `look` is what the figure's template lays out.
  constructor(player, look) {
    dressed("frames-style", SLIDER_STYLE);
    this.player = player;
    const { labels, prefix, buttons, panel: paper, accent } = player.steps;
    this.labels = labels.map(plain);
    this.words = this.labels.map((label) => `${plain(prefix)}${label}`);
    this.last = labels.length - 1;
    const panel = make("div", { className: "frames" });
    const longest = Math.max(...this.words.map((words) => words.length));
    for (const [name, value] of Object.entries({
      ink: look.font?.color, font: look.font?.family, muted: look.xaxis?.tickfont?.color,
      panel: paper, accent, longest: `${0.5 * longest}em`,
    })) {
      panel.style.setProperty(`--${name}`, value);
    }
    for (const [textContent, title, onclick] of buttons ? this.actions(buttons) : []) {
      const button = make("button", { type: "button", textContent, title, onclick });
      button.setAttribute("aria-label", title);
      panel.append(button);
    }
    this.output = make("output");
    this.range = make("input", { type: "range", min: 0, max: this.last, step: 1 });
    this.range.setAttribute("aria-label", plain(prefix).replace(/[\s=:]+$/, "") || "frame");
    this.range.oninput = () => this.go(Number(this.range.value));
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
  }

  end() {
    this.stop();
    this.panel.remove();
  }

  actions({ rewind, back, play, pause, step }) {
    return [
      ["❙◀", rewind, () => this.go(0)],
      ["◀", back, () => this.go(this.player.place - 1)],
      ["▶", play, () => this.play()],
      ["❚❚", pause, () => this.stop()],
      ["▶❙", step, () => this.go(this.player.place + 1)],
    ];
  }

  show(place) {
    this.output.textContent = this.words[place];
    this.range.value = place;
    this.range.setAttribute("aria-valuetext", this.words[place]);
  }

  // As many labels at the scale as have room, the ends always.
  label() {
    const { labels, last } = this;
    const width = this.scale.clientWidth || 300;
    if (width === this.labeled) {
      return;
    }
    this.labeled = width;
    this.scale.querySelectorAll("span").forEach((label) => label.remove());
    const gap = Math.max(LABEL, 9 * Math.max(...labels.map((label) => label.length)) + 10);
    const every = Math.max(1, Math.ceil((last * gap) / width));
    labels.forEach((textContent, place) => {
      if (place === last || (place % every === 0 && last - place >= every)) {
        const span = make("span", { textContent });
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

  play() {
    const { player } = this;
    this.go(player.place === this.last ? 0 : player.place);
    this.playing = setInterval(() => {
      player.go(player.place + 1);
      if (player.place === this.last || !this.panel.isConnected) {
        this.stop();
      }
    }, PAUSE);
  }

  stop() {
    clearInterval(this.playing);
  }
}

const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);

const plain = (words) => new DOMParser().parseFromString(words, "text/html").body.textContent;
