/** The two pages: nothing inline, nothing from elsewhere, and a policy that says so to the browser. */
import type { AssetName, Assets } from "./assets.ts";
import { type Content, createText } from "./content.ts";

/** Everything is refused but what a page adds (CSP Level 3). */
const POLICY = {
  "default-src": "'none'",
  "base-uri": "'none'",
  "connect-src": "'self'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
  "img-src": "'self' data:",
  "script-src": "'self'",
};

/**
 * The two inline styles of Redoc, by their hash (CSP Level 3 §2.3.1): an empty one, filled through the object model,
 * and that of its scroll bar.
 */
const REDOC_STYLES =
  "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' 'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='";

interface PageOptions {
  readonly title: string;
  readonly description: string;
  readonly styles: readonly AssetName[];
  readonly scripts: readonly AssetName[];
  /** Directives beside those of {@link POLICY}. */
  readonly policy: Readonly<Record<string, string>>;
}

export const EXPLORER: PageOptions = {
  title: "Latchkey API: try it",
  description: "Try the operations of the Latchkey API from the browser.",
  styles: ["swagger-ui.css", "pages.css"],
  scripts: ["swagger-ui.js", "explorer.js"],
  policy: { "style-src": "'self'" },
};

export const REFERENCE: PageOptions = {
  title: "Latchkey API: reference",
  description: "Every operation of the Latchkey API, with its schemas and examples.",
  styles: ["pages.css"],
  scripts: ["redoc.js", "reference.js"],
  // The worker is that of the search.
  policy: { "style-src": `'self' ${REDOC_STYLES}`, "worker-src": "blob:" },
};

export function createPage(
  { title, description, styles, scripts, policy }: PageOptions,
  { paths }: Assets,
): Content {
  const links = styles.map((name) => `<link rel="stylesheet" href="${paths[name]}">`);
  const tags = scripts.map((name) => `<script defer src="${paths[name]}"></script>`);
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="description" content="${description}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="${paths["icon.svg"]}">
${[...links, ...tags].join("\n")}
</head>
<body>
<noscript>This page is drawn by a script. The document itself is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<main id="page"></main>
</body>
</html>
`;
  return createText(html, {
    type: "text/html; charset=utf-8",
    headers: { "content-security-policy": writePolicy({ ...POLICY, ...policy }) },
  });
}

const writePolicy = (directives: Readonly<Record<string, string>>): string =>
  Object.entries(directives)
    .map(([name, sources]) => `${name} ${sources}`)
    .join("; ");
