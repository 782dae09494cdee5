/**
 * Bundles the scripts of the pages of accounts: `bun apps/gateway/src/pages/build.ts`. Runs before each start of a checkout, and while
 * the image is built. Any number of builds can run at the same time, because a file gets its name when it is complete.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const SOURCES = join(import.meta.dir, "browser");
const OUTPUT = resolve(import.meta.dir, "../../dist/pages");
/** One script per page, and what a page loads later. */
const ENTRIES = ["account", "authorize", "links", "qr-code"];

const isCurrent = (path: string, content: Uint8Array): boolean => {
  try {
    return readFileSync(path).equals(content);
  } catch {
    return false;
  }
};

const { outputs } = await Bun.build({
  entrypoints: ENTRIES.map((name) => join(SOURCES, `${name}.ts`)),
  target: "browser",
  minify: true,
});
mkdirSync(OUTPUT, { recursive: true });
for (const output of outputs) {
  const path = join(OUTPUT, output.path.replace(/^.*\//, ""));
  const content = new Uint8Array(await output.arrayBuffer());
  if (isCurrent(path, content)) continue;
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, content);
  renameSync(unfinished, path);
}
