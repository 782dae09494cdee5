/**
 * Every script, style and picture that the document pages load. Each one's path holds the hash of its bytes, so it may
 * be cached for ever and nothing but these paths exists.
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
  /** A text of the file and what stands there instead. */
  readonly replace?: readonly [string, string];
}

const SOURCES = {
  "swagger-ui.js": { specifier: "swagger-ui-dist/swagger-ui-bundle.js", type: SCRIPT },
  "swagger-ui.css": { specifier: "swagger-ui-dist/swagger-ui.css", type: STYLE },
  "redoc.js": {
    specifier: "redoc/bundles/redoc.standalone.js",
    type: SCRIPT,
    // The one thing it would load from elsewhere: a logo, which it leaves out where it cannot be loaded.
    replace: ["https://cdn.redoc.ly/redoc/logo-mini.svg", "data:,"],
  },
  "explorer.js": { specifier: "./browser/explorer.js", type: SCRIPT },
  "reference.js": { specifier: "./browser/reference.js", type: SCRIPT },
  "pages.css": { specifier: "./browser/pages.css", type: STYLE },
  "icon.svg": { specifier: "./browser/icon.svg", type: "image/svg+xml; charset=utf-8" },
} satisfies Record<string, Source>;

export type AssetName = keyof typeof SOURCES;

export interface Assets {
  readonly paths: Readonly<Record<AssetName, string>>;
  readonly contents: ReadonlyMap<string, Content>;
}

/** Reads each file once, to name it; `contents` is by path. */
export function readAssets(): Assets {
  const contents = new Map<string, Content>();
  const paths = mapSources((source, name) => {
    const content = readAsset(source);
    const path = `/docs/assets/${content.hash}/${name}`;
    contents.set(path, content);
    return path;
  });
  return { paths, contents };
}

function readAsset(source: Source): Content {
  const file = fileURLToPath(import.meta.resolve(source.specifier));
  return createContent({
    type: source.type,
    cacheControl: `public, max-age=${ONE_YEAR_SECONDS}, immutable`,
    hash: hashOf(edit(readFileSync(file), source)),
    read: async () => edit(await Bun.file(file).bytes(), source),
  });
}

/** The result has every name of SOURCES, since it is made from their entries. */
function mapSources<Value>(map: (source: Source, name: string) => Value): Record<AssetName, Value> {
  const mapped = Object.entries(SOURCES).map(([name, source]) => [name, map(source, name)]);
  return Object.fromEntries(mapped) as Record<AssetName, Value>;
}

/** Source maps are not served, so a last line that names one goes. As bytes: a text would cost twice the memory. */
function edit(file: Uint8Array, { replace }: Source): Uint8Array {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const lastLine = bytes.lastIndexOf("\n", -2) + 1;
  const namesMap = bytes.indexOf("# sourceMappingURL=", lastLine) === lastLine + 2;
  const kept = namesMap ? bytes.subarray(0, lastLine) : bytes;
  const [text, substitute] = replace ?? ["", ""];
  const at = kept.indexOf(text);
  if (!replace || at === -1) return kept;
  return Buffer.concat([kept.subarray(0, at), Buffer.from(substitute), kept.subarray(at + text.length)]);
}
