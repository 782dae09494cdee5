/**
 * The scripts, styles and the icon of the documentation pages. The path of each contains the hash of its bytes, so
 * clients can cache it forever, and no other path below `/docs/assets` exists.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Content, createContent, hashOf } from "./content.ts";

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";
const ONE_YEAR_SECONDS = 31_536_000;

interface Source {
  readonly specifier: string;
  readonly type: string;
}

const SOURCES = {
  "swagger-ui.js": { specifier: "swagger-ui-dist/swagger-ui-bundle.js", type: SCRIPT },
  "swagger-ui.css": { specifier: "swagger-ui-dist/swagger-ui.css", type: STYLE },
  "redoc.js": { specifier: "redoc/bundles/redoc.standalone.js", type: SCRIPT },
  "explorer.js": { specifier: "./browser/explorer.js", type: SCRIPT },
  "reference.js": { specifier: "./browser/reference.js", type: SCRIPT },
  "pages.css": { specifier: "./browser/pages.css", type: STYLE },
  "icon.svg": { specifier: "./browser/icon.svg", type: "image/svg+xml; charset=utf-8" },
} satisfies Record<string, Source>;

export type AssetName = keyof typeof SOURCES;

export interface Assets {
  readonly paths: Readonly<Record<AssetName, string>>;
  /** By path. */
  readonly contents: ReadonlyMap<string, Content>;
}

export function readAssets(): Assets {
  const assets = Object.entries(SOURCES).map(([name, source]) => {
    const content = readAsset(source);
    return { name, content, path: `/docs/assets/${content.hash}/${name}` };
  });
  return {
    paths: pathsByName(assets),
    contents: new Map(assets.map(({ path, content }) => [path, content])),
  };
}

/** The cast is safe because `assets` is made from all entries of SOURCES. */
const pathsByName = (assets: readonly { name: string; path: string }[]) =>
  Object.fromEntries(assets.map(({ name, path }) => [name, path])) as Record<AssetName, string>;

function readAsset({ specifier, type }: Source): Content {
  const file = fileURLToPath(import.meta.resolve(specifier));
  return createContent({
    type,
    cacheControl: `public, max-age=${ONE_YEAR_SECONDS}, immutable`,
    hash: hashOf(edit(readFileSync(file))),
    read: async () => edit(await Bun.file(file).bytes()),
  });
}

/** The only external address in the files: Redoc's logo, which it omits if it cannot load it. */
const EXTERNAL_LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg";
const EMPTY_LOGO = Buffer.from("data:,");

/** Removes a last line that names a source map, and the external address. Works on bytes: text needs twice the memory. */
function edit(file: Uint8Array): Uint8Array {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const lastLine = bytes.lastIndexOf("\n", -2) + 1;
  const namesMap = bytes.indexOf("# sourceMappingURL=", lastLine) === lastLine + 2;
  const kept = namesMap ? bytes.subarray(0, lastLine) : bytes;
  const at = kept.indexOf(EXTERNAL_LOGO);
  if (at === -1) return kept;
  return Buffer.concat([kept.subarray(0, at), EMPTY_LOGO, kept.subarray(at + EXTERNAL_LOGO.length)]);
}
