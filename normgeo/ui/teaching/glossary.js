// Shows the meaning of symbols and terms: in words, formulas and figures when a pointer rests on one
// or a finger touches it, and all of them in a list that a button and the key ? open. Escape closes
// either.

const REST = 150; // milliseconds without a move before the meaning appears
const NEAR = 2; // pixels around a word that still count as the word
const LETTER = "[\\p{L}\\p{N}]";
const SYMBOLS = ".mathnormal, .mathrm, .mathit, .mathbb";
const FIELDS = "input:not([type=range]), textarea, select, [contenteditable]";
const ACTS = "button, a, input, textarea, select, [role=button], [role=tab], [role=option]";

// KaTeX has its own code points for some letters.
const usual = (letters) => letters.replace(/[∥ϕϵ]/g, (one) => ({ "∥": "‖", "ϕ": "φ", "ϵ": "ε" })[one]);

// Patterns for the names of an entry; a term may begin a sentence or be a plural.
function forms(name) {
  return name.split(", ").map((form) => {
    const exact = form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return /[a-z]{3}/.test(form)
      ? `[${form[0].toUpperCase()}${form[0]}]${exact.slice(1).replace(/y$/, "(?:y|ies)")}(?:s|es)?`
      : exact;
  });
}

// The patterns that find entries, with a group for each, for words and for formulas, where letters
// have no spaces between them; `places` maps groups to entries.
function finder(entries) {
  const all = entries.flatMap(([name], place) => forms(name).map((form) => [form, place]));
  all.sort(([one], [other]) => other.length - one.length);
  const groups = all.map(([form]) => `(${form})`).join("|");
  return {
    places: all.map(([, place]) => place),
    inWords: new RegExp(`(?<!${LETTER})(?:${groups})(?!${LETTER})`, "gu"),
    inFormulas: new RegExp(groups, "gu"),
  };
}

// In a formula a letter stands alone; with a hat, or between bars, it is another symbol.
function symbol(letter) {
  const whole = letter.parentElement.closest(".mord") ?? letter;
  const barred = [letter, whole].some((one) => usual(one.previousElementSibling?.textContent ?? "") === "‖");
  return letter.closest(".accent") ? "ŵ" : barred ? "‖w‖" : "w";
}

// The ranges of a text that have a meaning, and the meaning.
function* found({ entries, places, inWords, inFormulas }, text) {
  const parent = text.parentElement;
  const formula = parent.closest(".katex");
  const words = usual(text.data);
  const letters = parent.matches(".mathnormal");
  for (const match of words.matchAll(letters ? inFormulas : inWords)) {
    let entry = entries[places[match.slice(1).findIndex(Boolean)]];
    if (letters && match[0] === "w") {
      entry = entries.find(([name]) => name === symbol(parent)) ?? entry;
    }
    // Among words "a" is an article; in a formula letters may form a word, or an operator such as ᵀ.
    const stands = formula ? parent.matches(SYMBOLS) : !/^a$/i.test(match[0]);
    if (stands || words.trim() === match[0]) {
      const range = document.createRange();
      range.setStart(text, match.index);
      range.setEnd(text, match.index + match[0].length);
      yield [range, entry[1]];
    }
  }
}

// The symbol at a point of the screen, as a range, and its meaning.
function at(shown, path, x, y) {
  const near = ({ left, right, top, bottom }) =>
    x >= left - NEAR && x <= right + NEAR && y >= top - NEAR && y <= bottom + NEAR;
  if (!(path[0] instanceof Element) || path.some((one) => one.matches?.(ACTS))) {
    return null;
  }
  // Other elements cover the letters: in a figure the axes, in a formula other signs or the next line.
  const inPage = path.some((one) => one.matches?.("[data-testid=stMain]"));
  const under = inPage ? document.elementsFromPoint(x, y) : [path[0]];
  const drawn = new Set(under.map((one) => one.closest(".js-plotly-plot, .katex")).filter(Boolean));
  const parts = [...drawn].flatMap((one) => [...one.querySelectorAll(`text, tspan, ${SYMBOLS}`)]);
  for (const part of [path[0], ...parts]) {
    for (const text of near(part.getBoundingClientRect()) ? part.childNodes : []) {
      for (const [range, meaning] of text.nodeType === Node.TEXT_NODE ? found(shown, text) : []) {
        if ([...range.getClientRects()].some(near)) {
          return [range, meaning];
        }
      }
    }
  }
  return null;
}

function tell(tip, where, meaning) {
  tip.textContent = meaning;
  tip.hidden = false;
  const { left, bottom, top } = where.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const below = bottom + height + 8 < window.innerHeight;
  tip.style.left = `${Math.max(8, Math.min(left, window.innerWidth - width - 8))}px`;
  tip.style.top = `${below ? bottom + 4 : top - height - 4}px`;
}

let shown, resting;

// A pointer may move from a symbol onto its meaning; outside of both, the meaning closes.
function point(event) {
  clearTimeout(resting);
  const path = event.composedPath();
  const look = () => {
    const there = at(shown, path, event.clientX, event.clientY);
    if (there) {
      tell(shown.tip, ...there);
    } else if (!path.includes(shown.tip)) {
      shown.tip.hidden = true;
    }
  };
  resting = setTimeout(look, event.type === "click" ? 0 : REST);
}

function press(event) {
  const { tip, list } = shown;
  if (event.key === "Escape" && tip.isConnected && !tip.hidden) {
    event.stopPropagation();
    tip.hidden = true;
  } else if (event.key === "?" && !list.open && !event.composedPath().some((one) => one.matches?.(FIELDS))) {
    list.showModal();
  }
}

const make = (tag, words) => Object.assign(document.createElement(tag), { textContent: words });

function listed(entries) {
  const list = document.createElement("dl");
  list.append(...entries.flatMap(([name, meaning]) => [make("dt", name), make("dd", meaning)]));
  return list;
}

export default function ({ data, parentElement }) {
  const [open, list, tip] = parentElement.querySelectorAll(".open, dialog, [role=tooltip]");
  shown = { list, tip, entries: data.entries, ...finder(data.entries) };
  // Adding the same functions again has no effect.
  document.addEventListener("pointermove", point);
  document.addEventListener("click", point);
  window.addEventListener("keydown", press, true);
  open.hidden = !data.button;
  open.title = data.label;
  open.setAttribute("aria-label", data.label);
  open.onclick = () => list.showModal();
  const close = make("button", "✕");
  close.setAttribute("aria-label", data.close);
  close.onclick = () => list.close();
  list.setAttribute("aria-label", data.label);
  list.onclick = ({ target }) => target === list && list.close(); // beside what it holds
  const body = document.createElement("div");
  const keys = data.keys.length ? [make("h2", data.ofKeys), listed(data.keys)] : [];
  body.append(close, ...keys, make("h2", data.label), listed(data.entries), make("h2", data.elsewhere), listed(data.others));
  list.replaceChildren(body);
  return () => {
    if (shown.list === list) {
      document.removeEventListener("pointermove", point);
      document.removeEventListener("click", point);
      window.removeEventListener("keydown", press, true);
    }
  };
}
