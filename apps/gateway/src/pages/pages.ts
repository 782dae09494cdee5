/**
 * The two documentation pages, and the template of all pages. Pages contain no inline scripts or styles and load nothing from
 * other hosts. The content security policy enforces these rules.
 */
import type { AssetName, Assets } from "./assets.ts";
import { type Content, createText } from "./content.ts";

/** Forbids everything that a page does not allow explicitly (CSP Level 3). */
const POLICY = {
  "default-src": "'none'",
  "base-uri": "'none'",
  "connect-src": "'self'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
  "img-src": "'self' data:",
  "script-src": "'self'",
};

/** Hashes of the styles that Redoc inserts (CSP Level 3 §2.3.1): an empty style, which a script fills, and the scroll bar's. */
const REDOC_STYLES =
  "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' 'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='";

export interface PageOptions {
  readonly title: string;
  /** @default "en" */
  readonly language?: string;
  /** @default the title */
  readonly description?: string;
  readonly styles: readonly AssetName[];
  readonly scripts: readonly AssetName[];
  /** Whether each script has its own scope. The vendors' scripts have not. @default false */
  readonly hasModules?: boolean;
  /** Directives that extend {@link POLICY} or override its directives. */
  readonly policy: Readonly<Record<string, string>>;
  /** The HTML of the body. @default the body of a documentation page, which a script fills */
  readonly body?: string;
}

const DOCUMENTATION_BODY = `<noscript>This page needs JavaScript. The OpenAPI document is at <a href="openapi.json">openapi.json</a>.</noscript>
<main id="page"></main>`;

export const EXPLORER: PageOptions = {
  title: "Latchkey API explorer",
  description: "Call the operations of the Latchkey API from the browser.",
  styles: ["swagger-ui.css", "pages.css"],
  scripts: ["swagger-ui.js", "explorer.js"],
  policy: { "style-src": "'self'" },
};

export const REFERENCE: PageOptions = {
  title: "Latchkey API reference",
  description: "Every operation of the Latchkey API, with its schemas and examples.",
  styles: ["pages.css"],
  scripts: ["redoc.js", "reference.js"],
  // Redoc's search runs in a worker.
  policy: { "style-src": `'self' ${REDOC_STYLES}`, "worker-src": "blob:" },
};

/**
 * All URLs of a page are relative, because a proxy can serve the service below a prefix of the path.
 * @param path where the page is, without the prefix
 */
export function createPage(path: string, options: PageOptions, { paths, logo }: Assets): Content {
  const {
    title,
    language = "en",
    description = title,
    styles,
    scripts,
    hasModules = false,
    policy,
  } = options;
  const { body = DOCUMENTATION_BODY } = options;
  const urlOf = (name: AssetName): string => relativeUrl(path, paths[name]);
  const links = styles.map((name) => `<link rel="stylesheet" href="${urlOf(name)}">`);
  const tags = scripts.map(
    (name) => `<script ${hasModules ? `type="module"` : "defer"} src="${urlOf(name)}"></script>`,
  );
  const html = `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="description" content="${description}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="${logo ? relativeUrl(path, logo.path) : urlOf("icon.svg")}">
${[...links, ...tags].join("\n")}
</head>
<body>
${body}
</body>
</html>
`;
  const directives = Object.entries({ ...POLICY, ...policy }).map(([name, sources]) => `${name} ${sources}`);
  return createText(html, {
    type: "text/html; charset=utf-8",
    headers: { "content-security-policy": directives.join("; ") },
  });
}

/** Returns the URL of the path `to` relative to the path `from`. Both paths begin with a slash. */
export const relativeUrl = (from: string, to: string): string =>
  "../".repeat(from.split("/").length - 2) + to.slice(1);
