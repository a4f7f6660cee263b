// A frame over a figure, and a figure whose type is larger.

const isPlain = (value) =>
  value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype
  && !("bdata" in value);

// The original with a patch over it, of a list by place; what is not a plain object is replaced whole.
// Neither changes.
function over(original, patch) {
  const result = Array.isArray(original) ? [...original] : { ...original };
  for (const [path, value] of Object.entries(patch)) {
    const [key, ...rest] = path.split(".");
    const part = rest.length ? { [rest.join(".")]: value } : value;
    const own = isPlain(result[key]) || Array.isArray(result[key]) ? result[key] : {};
    result[key] = isPlain(part) ? over(own, part) : part;
  }
  return result;
}

// Lengths in pixels, by the name of the property; the rest of a figure has no fixed size.
const LENGTHS = new Set(
  "size width thickness ticklen standoff xshift yshift xpad ypad ax ay l r t b height pad xgap ygap arrowsize itemwidth"
    .split(" "),
);

function scaled(value, scale, key = "") {
  if (Array.isArray(value)) {
    return typeof value[0] === "object" || LENGTHS.has(key) ? value.map((one) => scaled(one, scale, key)) : value;
  }
  if (isPlain(value)) {
    if (value.xsizemode === "pixel" && value.path) {
      // A mark of its own size: its path is in pixels.
      const path = value.path.replace(/-?[\d.]+/g, (length) => length * scale);
      value = { ...value, path };
    }
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, scaled(one, scale, name)]));
  }
  if (typeof value === "string") {
    return value.replace(/font-size:\s*([\d.]+)px/g, (_, size) => `font-size:${size * scale}px`);
  }
  return typeof value === "number" && LENGTHS.has(key) ? value * scale : value;
}
