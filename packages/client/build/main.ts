/**
 * Builds `dist/`: for each entry point one ES module without imports, the same as a CommonJS module in `dist/cjs`, for Jest, older Node and TypeScript
 * programs that use `require`, and the declarations of each.
 */
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";

const PACKAGE = resolve(import.meta.dir, "..");
const DIST = join(PACKAGE, "dist");
const CJS = join(DIST, "cjs");

await rm(DIST, { recursive: true, force: true });

// Without the types of Bun and Node: the sources can use only what browsers have, too.
const tsc = Bun.spawnSync([process.execPath, "x", "tsc", "--project", "tsconfig.build.json"], {
  cwd: PACKAGE,
  stdio: ["ignore", "inherit", "inherit"],
});
if (!tsc.success) process.exit(1);
// TypeScript takes the kind of a declaration from the nearest package.json.
for (const name of new Bun.Glob("*.d.ts").scanSync(DIST))
  await Bun.write(join(CJS, name), Bun.file(join(DIST, name)));
await Bun.write(join(CJS, "package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);

const entrypoints = ["index.ts", "admin.ts"].map((name) => join(PACKAGE, "src", name));
await Bun.build({ entrypoints, outdir: DIST, target: "browser" });
await Bun.build({ entrypoints, outdir: CJS, target: "browser", format: "cjs" });

await Bun.write(join(DIST, "LICENSE"), Bun.file(join(PACKAGE, "../../LICENSE")));
