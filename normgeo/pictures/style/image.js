// Traces whose names keep the symbol of the next one away: a legend has no distance between them.
const apart = (data) => data.map((trace) => ({ ...trace, ...(trace.name && { name: `${trace.name}\u00a0\u00a0` }) }));

// A figure as SVG, or as the base64 of PNG, in the page's font. A browser draws an image of SVG
// without the fonts of the page: the file of the font goes into the drawing.
async function imageOf({ data, layout }, { format, width, height, scale }) {
  const { family } = layout.template.layout.font;
  await Promise.all(["16px", "bold 16px"].map((type) => document.fonts.load(`${type} ${family}`)));
  const drawing = await window.Plotly.toImage({ data: apart(data), layout }, { format: "svg", width, height, scale });
  const rule = await fontRule(family);
  const svg = decodeURIComponent(drawing.slice(drawing.indexOf(",") + 1))
    .replace(">", () => `><style>${rule}</style>`);
  if (format === "svg") {
    return svg;
  }
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: width * scale, height: height * scale });
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/png").split(",")[1];
}

// The rule of the page's style sheets for the first font of a family, its file inside.
async function fontRule(family) {
  const bare = (name) => name.replace(/["']/g, "").trim();
  const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules])
    .filter((rule) => rule instanceof CSSFontFaceRule);
  const found = rules.find(({ style }) => bare(style.fontFamily) === bare(family.split(",")[0])
    && !style.fontStyle.includes("italic"));
  if (!found) {
    return "";
  }
  const [, address] = found.style.src.match(/url\(["']?(.+?)["']?\)/);
  const base = found.parentStyleSheet.href ?? document.baseURI;
  const file = await (await fetch(new URL(address, base))).blob();
  const reader = new FileReader();
  await new Promise((done) => {
    reader.onload = done;
    reader.readAsDataURL(file);
  });
  return found.cssText.replace(/url\([^)]*\)/, `url("${reader.result}")`);
}
