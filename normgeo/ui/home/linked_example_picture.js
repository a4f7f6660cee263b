// The linked example: Falk's scheme (Wᵀ above A, X beside it), the means and scales of each method
// around it, and z. Every number is a field or a button; pointing at one highlights related numbers.

const PLACES = [0, 1, 2];

// Rows and columns of the picture's grid.
const X_COLUMN = 1;
const A_COLUMN = 5;
const RIGHT = 9;
const W_ROW = 2;
const HEADS = 5;
const A_ROW = 6;
const BELOW = 10;

const fill = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);

function put(element, row, column, rows = 1, columns = 1) {
  element.style.gridArea = `${row} / ${column} / span ${rows} / span ${columns}`;
  return element;
}

// A field or a button at (row, column) of its grid. `at` identifies it: its kind, and its case n,
// neuron h, feature d or method if it has one.
function item(tag, at, group, row, column) {
  const element = make(tag, { class: at.kind });
  element.setAttribute(...(tag === "button" ? ["type", "button"] : ["autocomplete", "off"]));
  Object.assign(element, { at, group, row, column });
  return put(element, row, column);
}

// Does a summed input or z at (n, h) belong to this mean or scale?
const covers = (at, n, h) => (at.n ?? n) === n && (at.h ?? h) === h;

// Can an entry of X or W move this z?
function reaches(entry, { method, n, h }) {
  const words = [method.center, method.scale];
  return entry.kind === "x"
    ? entry.n === n || words.includes("batch")
    : entry.h === h || words.includes("layer");
}

// Does an item light up when another is pointed at?
function lights(at, target) {
  if (at === target) {
    return true;
  }
  if (target.kind === "x" || target.kind === "w") {
    const moved = at.kind === "a" && covers(target, at.n, at.h);
    return moved || (at.kind === "z" && reaches(target, at));
  }
  if (target.kind === "statistic") {
    const ofWeights = target.word === "weight";
    const mine = at.kind === "z" && at.method === target.method;
    return (mine || at.kind === (ofWeights ? "w" : "a")) && covers(target, at.n, at.h);
  }
  return covers(at, target.n, target.h);
}

function build(root, data) {
  const { words, methods } = data;
  const scheme = make("div", { class: "scheme" });
  const label = (html, row, column, rows, columns, kind = "label") => {
    const element = make("div", { class: kind });
    element.innerHTML = html; // our own words
    scheme.append(put(element, row, column, rows, columns));
    return element;
  };
  label(words.X, HEADS, X_COLUMN, 1, 3);
  label(words.W, W_ROW, RIGHT - 1, 2, 4);
  label(words.A, HEADS, A_COLUMN, 1, 3);
  const sum = label("", W_ROW, X_COLUMN, 3, 3, "sum");

  const items = [];
  const add = (...args) => {
    items.push(item(...args));
    return items.at(-1);
  };
  for (const n of PLACES) {
    for (const d of PLACES) {
      const field = add("input", { kind: "x", n, d }, "x", A_ROW + n, X_COLUMN + d);
      field.setAttribute("aria-label", fill(words.x, { n, d }));
    }
  }
  for (const d of PLACES) {
    for (const h of PLACES) {
      const field = add("input", { kind: "w", h, d }, "w", W_ROW + d, A_COLUMN + h);
      field.setAttribute("aria-label", fill(words.w, { h, d }));
    }
  }
  for (const n of PLACES) {
    for (const h of PLACES) {
      add("button", { kind: "a", n, h }, "a", A_ROW + n, A_COLUMN + h);
    }
  }

  // Each method's μ and σ stand at the end of the averaged line; boxes frame the line.
  let [right, below] = [RIGHT, BELOW];
  const boxes = methods.map((method, number) => {
    const first = method.scale === "layer" ? right : below;
    for (const symbol of method.center === "none" ? ["σ"] : ["μ", "σ"]) {
      const word = symbol === "μ" ? method.center : method.scale;
      for (const place of PLACES) {
        const at = { kind: "statistic", method, number, word, symbol };
        at[word === "layer" ? "n" : "h"] = place;
        const [row, column] =
          word === "layer" ? [A_ROW + place, right]
          : word === "batch" ? [below, A_COLUMN + place]
          : [1, A_COLUMN + place];
        add("button", at, "statistic", row, column).style.setProperty("--method", method.color);
      }
      if (word === "layer") {
        label(symbol, HEADS, right++, 1, 1, "head");
      } else if (word === "batch") {
        const title = symbol === "μ" ? `${method.title} ` : "";
        label(`${title}${symbol}`, below++, X_COLUMN, 1, 4, "head side");
      } else {
        label(`${method.title} ‖w‖`, 1, X_COLUMN, 1, 4, "head side");
      }
    }
    if (method.scale === "layer") {
      label(method.title, HEADS - 1, first, 1, right - first, "head");
    }
    const same = methods.slice(0, number).some((other) => other.scale === method.scale);
    const box = make("div", { class: same ? "box same" : "box", "aria-hidden": "true" });
    box.style.setProperty("--method", method.color);
    scheme.append(box);
    const columns = right - A_COLUMN;
    return { box, move: (n, h) =>
      method.scale === "layer" ? put(box, A_ROW + n, A_COLUMN, 1, columns)
      : method.scale === "batch" ? put(box, A_ROW, A_COLUMN + h, below - A_ROW, 1)
      : put(box, 1, A_COLUMN + h, 4, 1) };
  });
  scheme.append(...items);

  const results = make("div", { class: "results" });
  results.innerHTML = `<p class="formula">${words.Z}</p>`;
  const lines = methods.map((method, number) => {
    const part = make("section", { class: "method", "aria-label": method.title });
    part.style.setProperty("--method", method.color);
    const title = make("h2", {}, method.title, make("span", {}, method.rule));
    const grid = make("div", { class: "zs" });
    for (const n of PLACES) {
      for (const h of PLACES) {
        grid.append(add("button", { kind: "z", method, number, n, h }, `z${number}`, n + 1, h + 1));
      }
    }
    const three = PLACES.map(() => make("div"));
    part.append(title, grid, make("div", { class: "lines" }, ...three));
    results.append(part);
    return three;
  });

  const note = make("p", { class: "note" });
  const complaint = make("p", { class: "complaint", role: "status" });
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", words.name);
  root.replaceChildren(scheme, make("div", { class: "notes" }, note, complaint), results);
  for (const each of items) {
    each.tabIndex = items.find(({ group }) => group === each.group) === each ? 0 : -1;
  }
  return { items, boxes, lines, note, complaint, sum };
}
