// Updates the linked example as the user types, points and moves the focus. The server computes.

const PAUSE = 100; // ms without a change before the server is told

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

const signed = (number) => String(number).replace("-", "−");

// The rows of X and of W, from the word in an address.
function read(word) {
  const rows = word.split("_").map((row) => row.split(".").map(Number));
  return { X: rows.slice(0, PLACES.length), W: rows.slice(PLACES.length) };
}

class Example {
  constructor(root) {
    Object.assign(this, { root, form: "", said: 0, waiting: false, timer: null });
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

  // Take the server's answer, unless a newer edit has yet to reach it.
  take(data, send) {
    this.send = send;
    const { methods, words } = data;
    const form = JSON.stringify([words, methods.map((method) => method.title)]);
    const anew = form !== this.form;
    if (!anew && (this.waiting || data.answered !== this.said)) {
      return;
    }
    if (anew) {
      Object.assign(this, { form, said: data.answered, parts: build(this.root, data) });
    }
    const own = !anew && data.example === this.example();
    this.data = data;
    [this.n, this.h] = data.place.split(".").map(Number);
    if (!own) {
      Object.assign(this, read(data.example));
      this.fields().forEach((field) => this.write(field));
      this.complain("");
    }
    this.root.removeAttribute("aria-busy");
    this.fill();
  }

  // The word in an address for the rows of X and of W.
  example() {
    return [...this.X, ...this.W].map((row) => row.join(".")).join("_");
  }

  fields() {
    return this.parts.items.filter((each) => each.tagName === "INPUT");
  }

  good({ kind, n, h, d }) {
    return kind === "x" ? this.X[n][d] : this.W[h][d];
  }

  write(field) {
    field.value = signed(this.good(field.at));
    field.removeAttribute("aria-invalid");
  }

  complain(words) {
    this.parts.complaint.textContent = words;
    this.parts.note.hidden = words !== "";
  }

  // An edit: a whole number counts at once; otherwise the last valid number stays.
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
        this.root.setAttribute("aria-busy", this.example() !== this.data.example);
        this.remember();
      }
    } else if (done || !/^[+-]?$/.test(typed)) {
      field.setAttribute("aria-invalid", "true");
      const [low, high] = [-largest, largest].map(signed);
      const value = field.value.length > 20 ? `${field.value.slice(0, 20)}…` : field.value;
      this.complain(fill(words.bad, { low, high, value, good: signed(good) }));
    }
    if (done) {
      this.write(field);
    }
  }

  // All numbers that follow from X and W.
  fill() {
    const { words, a, methods } = this.data;
    for (const element of this.parts.items) {
      const { kind, method, number, symbol, n = 0, h = 0 } = element.at;
      if (kind === "a") {
        element.textContent = a[n][h];
        element.ariaLabel = fill(words.a, { n, h, value: a[n][h] });
      } else if (kind === "statistic" || kind === "z") {
        const found = kind === "z" ? methods[number].z[n][h] : methods[number].statistics[symbol][n][h];
        const [short, told] = kind === "z" ? [found, found === "–" ? words.missing : found] : found;
        const says = kind === "z" ? words.z : element.at.n === undefined ? words.ofNeuron : words.ofCase;
        element.textContent = short;
        element.ariaLabel = fill(says, { method: method.title, symbol, n, h, value: told });
      }
      element.classList.toggle("long", element.textContent.length > 4);
      element.classList.toggle("longer", kind !== "z" && element.textContent.length > 5);
    }
    this.point(this.focused());
  }

  // Highlight the numbers related to an item, and write out the arithmetic of its place.
  point(target) {
    const { items, boxes, lines, sum } = this.parts;
    const { methods } = this.data;
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
      lines[i].forEach((line, k) => (line.textContent = method.lines[n][h][k]));
    });
    const [products, made] = this.data.sums[n][h];
    sum.replaceChildren(make("span", {}, products), make("b", {}, made));
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

  // The item that has the focus, if any.
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

  // After a pause, send the edit to the server, which writes it into the address.
  remember() {
    this.waiting = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), PAUSE);
  }

  flush() {
    clearTimeout(this.timer);
    if (this.waiting) {
      this.waiting = false;
      this.said += 1;
      this.send("edited", `${this.said} ${this.example()} ${this.n}.${this.h}`);
    }
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".example");
  root.example ??= new Example(root);
  root.example.take(data, setTriggerValue);
}
