// Keeps the linked example in step with what is typed, pointed at and focused, and the address with it.

const PAUSE = 500; // ms without a change before the server, which draws the exports, hears of it

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

// The next item in the direction of an arrow, in the same grid.
function neighbor(from, key, items) {
  const [down, across] = STEPS[key];
  const ahead = items.filter(
    (each) =>
      each.parentElement === from.parentElement &&
      (down ? each.column === from.column && (each.row - from.row) * down > 0
            : each.row === from.row && (each.column - from.column) * across > 0),
  );
  const distance = (each) => Math.abs(each.row - from.row) + Math.abs(each.column - from.column);
  return ahead.sort((one, other) => distance(one) - distance(other))[0];
}

// The rows of X and of W, from the word in an address.
function read(word) {
  const rows = word.split("_").map((row) => row.split(".").map(Number));
  return { X: rows.slice(0, PLACES.length), W: rows.slice(PLACES.length) };
}

class Example {
  constructor(root) {
    Object.assign(this, { root, form: "", received: "", sent: [], timer: null });
    const on = (event, answer) => root.addEventListener(event, answer);
    on("pointerover", ({ target }) => this.point(target.at ?? this.focused()));
    on("pointerleave", () => this.point(this.focused()));
    on("focusin", ({ target }) => target.at && this.enter(target));
    on("click", ({ target }) => target.at && target.focus());
    on("focusout", () => this.flush());
    on("input", ({ target }) => this.type(target, false));
    on("change", ({ target }) => this.type(target, true));
    on("keydown", (event) => this.key(event));
  }

  // Take what the server says; what it only gives back of our own does not disturb who types.
  take(data, send) {
    this.send = send;
    const { methods, ...others } = data;
    const form = JSON.stringify([others.words, methods.map((method) => method.title)]);
    const word = `${data.example} ${data.place}`;
    const anew = form !== this.form;
    if (!anew && word === this.received) {
      return;
    }
    this.received = word;
    const known = this.sent.indexOf(word);
    this.sent.splice(0, known + 1);
    if (!anew && known >= 0) {
      if (this.waiting || this.sent.length > 0) {
        this.address(); // the server has just written an older place there
      }
      return;
    }
    Object.assign(this, { data, form });
    if (anew) {
      this.parts = build(this.root, data);
    }
    Object.assign(this, read(data.example));
    [this.n, this.h] = data.place.split(".").map(Number);
    this.moments = methods.map(({ mu, variance }) => ({
      mu: mu.map((row) => row.map(parsed)),
      variance: variance.map((row) => row.map(parsed)),
    }));
    for (const field of this.fields()) {
      this.write(field);
    }
    this.complain("");
    this.fill();
  }

  fields() {
    return this.parts.items.filter((each) => each.tagName === "INPUT");
  }

  good({ kind, n, h, d }) {
    return kind === "x" ? this.X[n][d] : this.W[h][d];
  }

  write(field) {
    field.value = signed(String(this.good(field.at)));
    field.removeAttribute("aria-invalid");
  }

  complain(words) {
    this.parts.complaint.textContent = words;
    this.parts.note.hidden = words !== "";
  }

  // Someone typed: a whole number counts at once; of anything else, the last good number stays.
  type(field, done) {
    const { largest, words } = this.data;
    const typed = field.value.trim().replace("−", "-");
    const whole = /^[+-]?\d{1,9}$/.test(typed) ? Number(typed) + 0 : NaN; // never −0
    const good = this.good(field.at);
    if (Math.abs(whole) <= largest) {
      field.removeAttribute("aria-invalid");
      this.complain("");
      const { kind, n, h, d } = field.at;
      (kind === "x" ? this.X[n] : this.W[h])[d] = whole;
      if (whole !== good) {
        const A = product(this.X, this.W);
        this.moments = this.data.methods.map((method) => moments(method, A, this.W));
        this.fill();
        this.remember();
      }
    } else if (done || !/^[+-]?$/.test(typed)) {
      field.setAttribute("aria-invalid", "true");
      const [low, high] = [-largest, largest].map((each) => signed(String(each)));
      const value = field.value.length > 20 ? `${field.value.slice(0, 20)}…` : field.value;
      this.complain(fill(words.bad, { low, high, value, good: signed(String(good)) }));
    }
    if (done) {
      this.write(field);
    }
  }

  // All numbers that follow from X and W.
  fill() {
    const { words } = this.data;
    const A = (this.A = product(this.X, this.W));
    for (const element of this.parts.items) {
      const { kind, method, number: place, symbol, n = 0, h = 0 } = element.at;
      if (kind === "a") {
        element.textContent = shown([A[n][h], 1]);
        element.ariaLabel = fill(words.a, { n, h, value: element.textContent });
      } else if (kind === "statistic" || kind === "z") {
        const { mu, variance } = this.moments[place];
        const [m, v] = [mu[n][h], variance[n][h]];
        const z = normalized(A[n][h], m, v);
        const text = kind === "z" ? (z === null ? "–" : number(z)) : symbol === "μ" ? shown(m) : rootOf(v);
        const short = text.length > 5 && kind === "statistic"
          ? number(symbol === "μ" ? value(m) : Math.sqrt(value(v))) : text;
        const says = kind === "z" ? words.z : element.at.n === undefined ? words.ofNeuron : words.ofCase;
        const told = text === "–" ? words.missing : text;
        element.textContent = short;
        element.ariaLabel = fill(says, { method: method.title, symbol, n, h, value: told });
      }
      element.classList.toggle("long", element.textContent.length > 4);
      element.classList.toggle("longer", kind !== "z" && element.textContent.length > 5);
    }
    this.point(this.focused());
  }

  // Light up what belongs to an item, and write out the place that it belongs to.
  point(target) {
    const { items, boxes, lines, sum } = this.parts;
    const { methods, words } = this.data;
    const [n, h] = [target?.n ?? this.n, target?.h ?? this.h];
    const center = target ?? { kind: "a", n, h };
    for (const element of items) {
      const { at } = element;
      const here = (at.kind === "a" || at.kind === "z") && at.n === n && at.h === h;
      element.classList.toggle("lit", lights(at, center));
      element.classList.toggle("here", here);
    }
    for (const { move } of boxes) {
      move(n, h);
    }
    methods.forEach((method, i) => {
      const three = arithmetic(method, this.moments[i], this.A, this.W, n, h, words);
      lines[i].forEach((line, k) => (line.textContent = three[k]));
    });
    const bracketed = (entry) => (entry < 0 ? `(${shown([entry, 1])})` : shown([entry, 1]));
    const terms = this.X[n].map((x, d) => `${bracketed(x)}·${bracketed(this.W[h][d])}`);
    sum.replaceChildren(
      make("span", {}, `a = ${terms.join(" + ")}`),
      make("b", {}, ` = ${shown([this.A[n][h], 1])}`),
    );
    this.parts.note.textContent = this.told(target);
  }

  // One sentence about an item.
  told(target) {
    const { methods, words } = this.data;
    if (target?.kind === "statistic") {
      const { title, rule } = target.method;
      return fill(words.averaged, { method: title, rule });
    }
    if (target?.kind === "x" || target?.kind === "w") {
      const places = PLACES.flatMap((n) => PLACES.map((h) => ({ n, h })));
      const list = methods.map((method) => fill(words.reached, {
        count: places.filter((place) => reaches(target, { method, ...place })).length,
        method: method.title,
      }));
      return fill(words.reach, { list: list.join(", ") });
    }
    return target ? words.made : words.hint;
  }

  // What has the focus, if it is one of ours.
  focused() {
    return this.root.getRootNode().activeElement?.at;
  }

  enter(element) {
    for (const each of this.parts.items) {
      if (each.group === element.group) {
        each.tabIndex = each === element ? 0 : -1;
      }
    }
    const { n = this.n, h = this.h } = element.at;
    if (n !== this.n || h !== this.h) {
      Object.assign(this, { n, h });
      this.remember();
    }
    element.select?.();
    this.point(element.at);
  }

  key(event) {
    const { target, key } = event;
    const inside = target.selectionEnd !== undefined && STEPS[key]?.[1] &&
      target.selectionStart === target.selectionEnd && target.value.length > 0 &&
      target.selectionEnd !== (key === "ArrowRight" ? target.value.length : 0);
    const next = key in STEPS && !inside && neighbor(target, key, this.parts.items);
    if (next) {
      event.preventDefault();
      next.focus();
    }
  }

  // Into the address at once, so that a copied link is right; to the server after a pause.
  remember() {
    const now = this.address();
    this.waiting = `${now.example} ${now.place}`;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), PAUSE);
  }

  // Write what is shown into the address, and return it.
  address() {
    const rows = [...this.X, ...this.W].map((row) => row.join(".")).join("_");
    const now = { example: rows, place: `${this.n}.${this.h}` };
    const address = new URL(window.location);
    for (const [name, word] of Object.entries(now)) {
      if (word === this.data.defaults[name]) {
        address.searchParams.delete(name);
      } else {
        address.searchParams.set(name, word);
      }
    }
    window.history.replaceState(window.history.state, "", address);
    return now;
  }

  flush() {
    clearTimeout(this.timer);
    if (this.waiting) {
      this.sent.push(this.waiting);
      this.send("edited", this.waiting);
      this.waiting = "";
    }
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".example");
  root.example ??= new Example(root);
  root.example.take(data, setTriggerValue);
}
