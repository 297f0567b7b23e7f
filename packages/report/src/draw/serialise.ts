/** Writes a drawing as XML: the same text from a browser's document and from linkedom's. */

/** All that XML has no way to write: control characters, halves of surrogate pairs. */
const UNWRITABLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** Text as it stands in HTML and XML, in attributes too. */
export function escaped(text: string): string {
  return text
    .replaceAll(UNWRITABLE, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

const [ELEMENT, TEXT] = [1, 3];

/** An element with all that is in it. Numbers of drawings are rounded to a hundredth of a pixel. */
export function serialise(element: Element): string {
  const name = element.localName;
  const attributes = [...element.attributes]
    .map(({ name: key, value }) => ` ${key}="${escaped(rounded(key, value))}"`)
    .join("");
  let inner = "";
  for (const node of element.childNodes) {
    if (node.nodeType === ELEMENT) inner += serialise(node as Element);
    else if (node.nodeType === TEXT) inner += escaped(node.textContent ?? "");
  }
  return inner === "" ? `<${name}${attributes}/>` : `<${name}${attributes}>${inner}</${name}>`;
}

const geometry = new Set(["d", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "transform"]);

function rounded(key: string, value: string): string {
  if (!geometry.has(key)) return value;
  return value.replaceAll(/-?\d+\.\d{3,}(?:e-?\d+)?/g, (number) =>
    String(Math.round(Number(number) * 100) / 100),
  );
}
