/** Builds `dist/`: one ES module without imports, its declarations, and the licenses of what it contains. */
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";

const PACKAGE = resolve(import.meta.dir, "..");
const DIST = join(PACKAGE, "dist");
const LICENSES = [join(PACKAGE, "../../LICENSE"), join(PACKAGE, "node_modules/openapi-fetch/LICENSE")];

await rm(DIST, { recursive: true, force: true });
await Bun.build({ entrypoints: [join(PACKAGE, "src/index.ts")], outdir: DIST, target: "browser" });

// Without the types of Bun and Node: the sources can use only what browsers have, too.
const tsc = Bun.spawnSync([process.execPath, "x", "tsc", "--project", "tsconfig.build.json"], {
  cwd: PACKAGE,
  stdio: ["ignore", "inherit", "inherit"],
});
if (!tsc.success) process.exit(1);

const texts = await Promise.all(LICENSES.map((path) => Bun.file(path).text()));
await Bun.write(join(DIST, "LICENSE"), texts.join("\n---\n\nThis package contains openapi-fetch:\n\n"));
