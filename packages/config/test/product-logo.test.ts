/** Which files can be the logo of the product. */
import { expect, test } from "bun:test";
import { productLogo } from "../src/product-logo.ts";

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><script>alert(1)</script></svg>`;
/** One transparent pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
).toString("latin1");
const ENTITIES = `<!DOCTYPE svg [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>`;

const parse = (content: string) =>
  productLogo.parse("/logo", (_, encoding) => {
    expect(encoding).toBe("latin1");
    return content;
  });

test("an SVG, also with a script, and a PNG with its dimensions are accepted up to 64 KiB", () => {
  expect(parse(SVG)).toEqual({ type: "image/svg+xml", content: SVG, width: null, height: null });
  const declared = `<?xml version="1.0"?>\n<!-- <Acme> -->\n${SVG}\n`;
  expect(parse(declared.padEnd(65_536)).type).toBe("image/svg+xml");
  expect(parse(PNG)).toEqual({ type: "image/png", content: PNG, width: 1, height: 1 });
});

test.each([
  ["more than 64 KiB", SVG.padEnd(65_537)],
  ["entities", `${ENTITIES}${SVG.replace("</svg>", "<text>&b;</text></svg>")}`],
  ["neither an SVG nor a PNG", "<html></html>"],
  ["neither an SVG nor a PNG", `<p/>${SVG}`],
  ["neither an SVG nor a PNG", SVG.slice(0, -3)],
  ["neither an SVG nor a PNG", ""],
  ["an SVG without xmlns", SVG.replace(/ xmlns="[^"]+"/, "")],
  ["not a whole PNG", PNG.slice(0, -1)],
  ["not a whole PNG", PNG.slice(0, 8)],
  ["not 1 to 4096 pixels", `${PNG.slice(0, 16)}\xff\xff\xff\xff${PNG.slice(20)}`],
])("a file is rejected: %s", (problem, content) => {
  expect(() => parse(content)).toThrow(problem);
});
