/** Runs while the image is built: deletes the packages that its programs do not import. */
import { existsSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { join, relative } from "node:path";

const STORE = realpathSync("node_modules/.bun");
/** Peer dependencies for compilation, and libsql's build for another C library. */
const UNUSED = /^(typescript|bun-types|@types\+.*|@libsql\+linux-.*-musl)@/;
/** Only prebuilt files of these packages are read, so their dependencies are not. */
const ASSETS = /^(redoc|swagger-ui-dist)@/;

const kept = new Set<string>();

/** The packages in a `node_modules`. */
const packagesIn = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(folder, name)).map((scoped) => join(name, scoped)) : [name],
  );

/** Keeps the packages that the folder links to, and what they need. */
function keep(folder: string): void {
  for (const name of packagesIn(folder)) {
    const [entry = ""] = relative(STORE, realpathSync(join(folder, name))).split("/");
    if (entry === ".." || kept.has(entry) || UNUSED.test(entry)) continue;
    kept.add(entry);
    if (!ASSETS.test(entry)) keep(join(STORE, entry, "node_modules"));
  }
}

for (const parent of ["apps", "packages"]) {
  for (const workspace of readdirSync(parent)) {
    const folder = join(parent, workspace, "node_modules");
    if (existsSync(folder)) keep(folder);
  }
}
for (const entry of readdirSync(STORE)) if (!kept.has(entry)) rmSync(join(STORE, entry), { recursive: true });
