/**
 * Names the addon's file by platform, processor, libc and a hash of all C sources and their flags. The build and the
 * service compute the same name from the checkout, so an addon of older sources is never loaded.
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The folder of the C sources. */
export const SOURCE_DIRECTORY = join(import.meta.dirname, "../../native");

/** The default folder for builds. */
export const BUILD_DIRECTORY = join(SOURCE_DIRECTORY, "build");

/** Returns the first part of the file's name. The full name is `<first part>-<hash of the compiler>.node`. */
export function addonFilePrefix(): string {
  const hash = createHash("sha256");
  for (const name of globSync("{*,kernels/*}.{c,h,txt}", { cwd: SOURCE_DIRECTORY }).sort())
    hash.update(`${name}\0${readFileSync(join(SOURCE_DIRECTORY, name), "utf8")}\0`);
  return `latchkey-${process.platform}-${process.arch}${libc()}-${hash.digest("hex").slice(0, 16)}`;
}

/** Finds the addon of the current sources in `directory`. If several compilers built an addon, returns the newest file. */
export function findAddonFile(directory: string): { readonly path: string } | { readonly reason: string } {
  const files = globSync(`${addonFilePrefix()}-*.node`, { cwd: directory })
    .map((name) => join(directory, name))
    .map((path) => ({ path, builtAt: statSync(path).mtimeMs }));
  const [newest] = files.sort((a, b) => b.builtAt - a.builtAt || a.path.localeCompare(b.path));
  if (newest) return { path: newest.path };
  const file = reasonFile(directory);
  if (!existsSync(file)) return { reason: "not built: run `bun run build:native`" };
  return { reason: `not built: ${readFileSync(file, "utf8").trim()}` };
}

/** Returns the file in which a failed build stores its reason. */
export function reasonFile(directory: string): string {
  return join(directory, `${addonFilePrefix()}.txt`);
}

/** Returns the C library of this process on Linux, because an addon for another C library does not work. */
function libc(): string {
  try {
    return /\/(ld-musl-|libc\.musl-)/.test(readFileSync("/proc/self/maps", "utf8")) ? "-musl" : "-glibc";
  } catch {
    return "";
  }
}
