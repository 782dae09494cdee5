/**
 * The scripts, the styles and the icon of the pages. Each path contains the hash of the asset's bytes, so clients can cache
 * assets forever. No other paths exist below `/docs/assets`.
 */
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { mapMembers } from "../map-members.ts";
import { type Content, createContent, hashOf } from "./content.ts";

const ONE_YEAR_SECONDS = 31_536_000;

const TYPES = new Map([
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".svg", "image/svg+xml; charset=utf-8"],
]);

/** The module specifier of each asset. */
const SOURCES = {
  "swagger-ui.js": "swagger-ui-dist/swagger-ui-bundle.js",
  "swagger-ui.css": "swagger-ui-dist/swagger-ui.css",
  "redoc.js": "redoc/bundles/redoc.standalone.js",
  "explorer.js": "./browser/explorer.js",
  "reference.js": "./browser/reference.js",
  "pages.css": "./browser/pages.css",
  "account.css": "./browser/account.css",
  "forms.js": "./browser/forms.js",
  "links.js": "./browser/links.js",
  "account.js": "./browser/account.js",
  "authorize.js": "./browser/authorize.js",
  "webauthn.js": "./browser/webauthn.js",
  "other-logins.js": "./browser/other-logins.js",
  "icon.svg": "./browser/icon.svg",
};

export type AssetName = keyof typeof SOURCES;

export interface Assets {
  readonly paths: Readonly<Record<AssetName, string>>;
  /** By path. */
  readonly contents: ReadonlyMap<string, Content>;
}

/**
 * @param primaryColor the colour of the primary action on the pages of accounts, as CSS. The policy forbids inline styles
 */
export function readAssets(primaryColor = "#000000"): Assets {
  const contents = new Map<string, Content>();
  const paths = mapMembers(SOURCES, (specifier, name) => {
    const content = readAsset(specifier, name === "account.css" ? `:root{--primary:${primaryColor}}\n` : "");
    const path = `/docs/assets/${content.hash}/${name}`;
    contents.set(path, content);
    return path;
  });
  return { paths, contents };
}

function readAsset(specifier: string, prefix: string): Content {
  const file = fileURLToPath(import.meta.resolve(specifier));
  const type = TYPES.get(extname(file));
  if (type === undefined) throw new Error(`The media type of ${specifier} is unknown`);
  const bytes = Buffer.concat([Buffer.from(prefix), edit(readFileSync(file))]);
  return createContent({
    type,
    cacheControl: `public, max-age=${ONE_YEAR_SECONDS}, immutable`,
    hash: hashOf(bytes),
    identity: new Blob([bytes]),
  });
}

/** The only external address in the files: Redoc's logo. Redoc omits a logo that cannot be loaded. */
const EXTERNAL_LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg";
const EMPTY_LOGO = Buffer.from("data:,");

/** Removes the external address, and the last line if it names a source map. Edits bytes, because text needs twice the memory. */
function edit(file: Uint8Array): Uint8Array {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const lastLine = bytes.lastIndexOf("\n", -2) + 1;
  const namesMap = bytes.indexOf("# sourceMappingURL=", lastLine) === lastLine + 2;
  const kept = namesMap ? bytes.subarray(0, lastLine) : bytes;
  const at = kept.indexOf(EXTERNAL_LOGO);
  if (at === -1) return kept;
  return Buffer.concat([kept.subarray(0, at), EMPTY_LOGO, kept.subarray(at + EXTERNAL_LOGO.length)]);
}
