// A picture as a file, made where it is seen: in the page's font, at the frame on the screen.

const written = new TextEncoder();

// PNG, third edition, 5.3: length, type, data, checksum.
function chunk(kind, data) {
  const body = new Uint8Array([...written.encode(kind), ...data]);
  let checksum = -1;
  for (const byte of body) {
    checksum ^= byte;
    for (let bit = 0; bit < 8; bit++) {
      checksum = (checksum >>> 1) ^ (checksum & 1 ? 0xedb88320 : 0);
    }
  }
  const framed = new DataView(new ArrayBuffer(body.length + 8));
  framed.setUint32(0, data.length);
  new Uint8Array(framed.buffer).set(body, 4);
  framed.setUint32(body.length + 4, ~checksum >>> 0);
  return framed.buffer;
}

// With a title, and with words for those who cannot see it, where files from the server have them.
const DESCRIBED = {
  png: (content, words) => {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    const header = 8 + 25; // signature, and IHDR with its length, type and checksum
    const texts = Object.entries(words).map(([name, said]) =>
      chunk("iTXt", written.encode(`${name}\0\0\0\0\0${said}`)));
    return [bytes.slice(0, header), ...texts, bytes.slice(header)];
  },
  svg: (content, { Title: title, Description: description }) => {
    const drawn = new DOMParser().parseFromString(content, "image/svg+xml");
    const root = drawn.documentElement;
    for (const [id, words] of [["desc", description], ["title", title]]) {
      const named = drawn.createElementNS(root.namespaceURI, id);
      Object.assign(named, { id, textContent: words });
      root.prepend(named);
    }
    root.setAttribute("role", "img");
    root.setAttribute("aria-labelledby", "title");
    root.setAttribute("aria-describedby", "desc");
    return [new XMLSerializer().serializeToString(drawn)];
  },
};

async function save({ figure, format, file, mime, size, title, alt }) {
  const plot = document.querySelector(`.st-key-${figure} .js-plotly-plot`);
  const content = await window.framePlayers.get(plot).image({ ...size, format });
  const words = { Title: title, Description: document.getElementById(alt).textContent };
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(DESCRIBED[format](content, words), { type: mime }));
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  button.textContent = data.label;
  button.onclick = () => save(data);
}
