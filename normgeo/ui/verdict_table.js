// Builds the table from its data. A click reports its cell; arrow keys move between cells. The signs
// follow the slider of δ while it moves, without the server.

const SVG = "http://www.w3.org/2000/svg";

function mark(path) {
  if (path === undefined) {
    return make("span", { class: "asked", "aria-hidden": "true" }, "?");
  }
  const drawn = document.createElementNS(SVG, "svg");
  drawn.setAttribute("viewBox", "0 0 24 24");
  drawn.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", path);
  drawn.append(line);
  return drawn;
}

// Break lines between words, not inside "re-scaling".
function unbroken(words) {
  return words.split(" ").flatMap((word) => [make("span", {}, word), " "]).slice(0, -1);
}

function head(data) {
  const starts = new Set();
  let column = 0;
  const groups = data.groups.map((group) => {
    starts.add(column);
    column += group.span;
    return make("th", { colspan: group.span, scope: "colgroup", class: "first" }, group.label);
  });
  const columns = data.columns.map(({ label, title }, i) =>
    make("th", { scope: "col", class: starts.has(i) ? "first" : "" },
         make("span", { class: "operation" }, label), " ",
         make("span", { class: "name" }, ...unbroken(title))),
  );
  return {
    starts,
    element: make("thead", {}, make("tr", {}, make("td", {}), ...groups),
                  make("tr", {}, make("td", {}), ...columns)),
  };
}

// Where a norm stands to a weight: lines, and what is filled.
function drawing({ lines, filled, title }) {
  const drawn = document.createElementNS(SVG, "svg");
  drawn.setAttribute("viewBox", "0 0 64 24");
  drawn.setAttribute("class", "place");
  drawn.setAttribute("role", "img");
  drawn.setAttribute("aria-label", title);
  for (const [name, path] of [["lines", lines], ["filled", filled]]) {
    const part = document.createElementNS(SVG, "path");
    part.setAttribute("d", path);
    part.setAttribute("class", name);
    drawn.append(part);
  }
  return make("span", { title }, drawn);
}

function over({ label, title, state }, columns) {
  const cell = label
    ? make("th", { scope: "rowgroup", colspan: columns + 1 },
           make("div", { class: "words" },
                make("span", {}, label), " ", make("span", { class: "aside" }, title)))
    : make("td", { colspan: columns + 1 }); // a block has ended, and what follows is in none
  return make("tr", { class: `over ${state}` }, cell);
}

function body(data, starts, pick) {
  const rows = data.rows.flatMap((row) => {
    const cells = row.cells.map((cell, i) => {
      let content;
      if (cell === null) {
        content = "";
      } else if (data.buttons) {
        content = make("button", {
          type: "button",
          tabindex: "-1",
          "aria-pressed": String(cell.selected),
          "data-cell": cell.cell,
        });
        content.onclick = () => pick(content);
      } else {
        content = make("span", {});
      }
      return make("td", { class: starts.has(i) ? "first" : "" }, content);
    });
    const name = row.drawing
      ? make("div", { class: "named" }, drawing(row.drawing),
             make("span", { title: row.title }, row.label))
      : row.label;
    const line = make("tr", {}, make("th", { scope: "row" }, name), ...cells);
    return row.over ? [over(row.over, row.cells.length), line] : [line];
  });
  return make("tbody", {}, ...rows);
}

// Shows in each cell the mark, word and hint for the sign of δ.
function turn(table, data, negative) {
  const lines = [...table.tBodies[0].rows].filter((line) => !line.classList.contains("over"));
  data.rows.forEach((row, down) => row.cells.forEach((cell, i) => {
    if (cell === null) {
      return;
    }
    const { state, word } = cell.faces[Number(negative)];
    const content = lines[down].cells[i + 1].firstElementChild;
    const title = `${row.title}, ${data.columns[i].title}: ${word}`;
    if (content.title !== title) {
      Object.assign(content, { title, className: data.buttons ? state : `cell ${state}` });
      content.replaceChildren(mark(data.marks[state]), make("span", { class: "unseen" }, word));
    }
  }));
}

function neighbor(button, key) {
  const [down, right] = STEPS[key];
  const { cellIndex, parentElement: line } = button.closest("td");
  const rows = [...line.parentElement.rows];
  let at = rows.indexOf(line);
  let column = cellIndex;
  let found = null;
  do { // past headings, and cells that have nothing to ask
    at += down;
    column += right;
    const cell = rows[at]?.cells[column];
    if (rows[at] === undefined || (right && cell === undefined)) {
      return null;
    }
    found = cell?.querySelector("button");
  } while (!found);
  return found;
}

// Streamlit calls a component again when its data or the theme change, without ending the previous
// call: the next call removes that one's listener.
const ends = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const table = parentElement.querySelector("table");
  const content = JSON.stringify(data);
  if (table.dataset.content === content) {
    return ends.get(table);
  }
  ends.get(table)?.();
  const focused = table.getRootNode().activeElement?.dataset?.cell;

  const enter = (button) => {
    table.querySelector("button[tabindex='0']")?.setAttribute("tabindex", "-1");
    button.setAttribute("tabindex", "0");
  };
  const pick = (button) => {
    // Mark the cell at once, before the server answers.
    table.querySelector("[aria-pressed=true]")?.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", "true");
    enter(button);
    delete table.dataset.content;
    setTriggerValue("picked", button.dataset.cell);
  };

  const legend = data.legend.map(({ state, word }) =>
    make("span", { class: state }, mark(data.marks[state]), word));
  parentElement.querySelector(".legend").replaceChildren(...legend);

  const { starts, element } = head(data);
  table.classList.toggle("short", data.rows.length < 5);
  table.classList.toggle("long", data.rows.length > 12);
  table.classList.toggle("wide", data.columns.length > 6);
  table.classList.toggle("tensors", data.rows.some((row) => row.drawing));
  const caption = make("caption", { class: "unseen" }, data.caption);
  table.replaceChildren(caption, element, body(data, starts, pick));
  turn(table, data, data.negative);
  table.dataset.content = content;
  if (data.buttons) {
    enter(table.querySelector("[aria-pressed=true]") ?? table.querySelector("button"));
  }
  table.onkeydown = (event) => {
    const next = event.key in STEPS && neighbor(event.target, event.key);
    if (next) {
      event.preventDefault();
      enter(next);
      next.focus();
    }
  };
  if (focused) {
    table.querySelector(`[data-cell="${focused}"]`)?.focus();
  }

  const follow = ({ detail: { setting, value } }) => {
    if (setting === "delta") {
      turn(table, data, Number(value) < 0);
    }
  };
  document.addEventListener("frameshown", follow);
  ends.set(table, () => document.removeEventListener("frameshown", follow));
  return ends.get(table);
}
