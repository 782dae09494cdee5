/**
 * The scripts, the styles and the icon of the pages. Each path contains the hash of the asset's bytes, so clients can cache
 * assets forever. No other paths exist below `/docs/assets`.
 */
import { existsSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../config.ts";
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
  // Bundled by `build.ts`, which a start of the service and the image run before.
  "links.js": "../../dist/pages/links.js",
  "account.js": "../../dist/pages/account.js",
  "authorize.js": "../../dist/pages/authorize.js",
  "qr-code.js": "../../dist/pages/qr-code.js",
  "icon.svg": "./browser/icon.svg",
};

export type AssetName = keyof typeof SOURCES;

/** The operator's picture. Its dimensions are known if it is a PNG. */
export interface Logo {
  readonly path: string;
  readonly width: number | null;
  readonly height: number | null;
}

export interface Assets {
  readonly paths: Readonly<Record<AssetName, string>>;
  /** null: none is configured. */
  readonly logo: Logo | null;
  /** By path. */
  readonly contents: ReadonlyMap<string, Content>;
}

const BUNDLES = fileURLToPath(new URL("../../dist/pages/", import.meta.url));

/** `bun start` and the image bundle the scripts. A new checkout whose program is started in another way has none. */
function bundleIfMissing(): void {
  if (existsSync(`${BUNDLES}account.js`)) return;
  const program = fileURLToPath(new URL("./build.ts", import.meta.url));
  const { success, stderr } = Bun.spawnSync([process.execPath, program], { stderr: "pipe" });
  if (!success) throw new Error(`The scripts of the pages are not bundled: ${stderr}`);
}

/**
 * @param primaryColor the colour of the primary action on the pages of accounts, as CSS. The policy forbids inline styles
 */
export function readAssets(primaryColor = "#000000", logo: Config["pages"]["logo"] = null): Assets {
  bundleIfMissing();
  const contents = new Map<string, Content>();
  const paths = mapMembers(SOURCES, (specifier, name) => {
    const content = readAsset(specifier, name === "account.css" ? `:root{--primary:${primaryColor}}\n` : "");
    const path = `/docs/assets/${content.hash}/${name}`;
    contents.set(path, content);
    return path;
  });
  return { paths, logo: logo && addLogo(logo, contents), contents };
}

/** Nothing in the picture runs or is loaded, also if it is opened as a page. Its styles are part of how it looks. */
const LOGO_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'";

type LogoFile = NonNullable<Config["pages"]["logo"]>;

function createLogo({ type, content }: LogoFile) {
  const asset = createAsset(type, Buffer.from(content, "latin1"), { "content-security-policy": LOGO_POLICY });
  return { asset, path: `/docs/assets/${asset.hash}/logo.${type === "image/png" ? "png" : "svg"}` };
}

/** Returns the path at which the service serves the logo, for mails. */
export const logoPathOf = (logo: LogoFile): string => createLogo(logo).path;

function addLogo(logo: LogoFile, contents: Map<string, Content>): Logo {
  const { asset, path } = createLogo(logo);
  contents.set(path, asset);
  return { path, width: logo.width, height: logo.height };
}

/** Read once by each process: the files have megabytes, and a process of tests creates hundreds of services. */
const known = new Map<string, Content>();

function readAsset(specifier: string, prefix: string): Content {
  const key = `${specifier}\n${prefix}`;
  const content = known.get(key) ?? openAsset(specifier, prefix);
  known.set(key, content);
  return content;
}

function openAsset(specifier: string, prefix: string): Content {
  const file = fileURLToPath(import.meta.resolve(specifier));
  const type = TYPES.get(extname(file));
  if (type === undefined) throw new Error(`The media type of ${specifier} is unknown`);
  const bytes = edit(readFileSync(file));
  return createAsset(type, prefix === "" ? bytes : Buffer.concat([Buffer.from(prefix), bytes]));
}

const createAsset = (type: string, bytes: Uint8Array<ArrayBuffer>, headers?: Content["headers"]): Content =>
  createContent({
    type,
    cacheControl: `public, max-age=${ONE_YEAR_SECONDS}, immutable`,
    hash: hashOf(bytes),
    ...(headers && { headers }),
    identity: new Blob([bytes]),
  });

/** The only external address in the files: Redoc's logo. Redoc omits a logo that cannot be loaded. */
const EXTERNAL_LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg";
const EMPTY_LOGO = Buffer.from("data:,");

/** Removes the external address, and the last line if it names a source map. Edits bytes, because text needs twice the memory. */
function edit(file: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const lastLine = bytes.lastIndexOf("\n", -2) + 1;
  const namesMap = bytes.indexOf("# sourceMappingURL=", lastLine) === lastLine + 2;
  const kept = namesMap ? bytes.subarray(0, lastLine) : bytes;
  const at = kept.indexOf(EXTERNAL_LOGO);
  if (at === -1) return kept;
  return Buffer.concat([kept.subarray(0, at), EMPTY_LOGO, kept.subarray(at + EXTERNAL_LOGO.length)]);
}
