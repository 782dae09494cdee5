/** Draws QR codes as SVG without styles, which the policy of the pages forbids. A module of its own, because few users need it. */
import { generate } from "lean-qr";

/** Modules around the code that stay white (ISO/IEC 18004, 5.3.8). */
const QUIET_ZONE = 4;
const SVG = "http://www.w3.org/2000/svg";

function create(name: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

export function drawQrCode(text: string, label: string): SVGElement {
  const code = generate(text);
  const side = code.size + 2 * QUIET_ZONE;
  let path = "";
  for (let y = 0; y < code.size; y++)
    for (let x = 0; x < code.size; x++)
      if (code.get(x, y)) path += `M${x + QUIET_ZONE} ${y + QUIET_ZONE}h1v1h-1z`;
  const svg = create("svg", { viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": label });
  svg.append(
    create("rect", { width: String(side), height: String(side), fill: "#fff" }),
    create("path", { d: path, fill: "#000", "shape-rendering": "crispEdges" }),
  );
  return svg;
}
