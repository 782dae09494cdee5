/**
 * Names the addon's file: by platform, processor and libc, and by a hash of every C source and its flags. Builder and
 * service compute the same name from the checkout, so a build of older sources is never picked up.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The C sources. */
export const SOURCE_DIRECTORY = join(import.meta.dirname, "../../native");

/** Where builds are kept unless told otherwise. */
export const BUILD_DIRECTORY = join(SOURCE_DIRECTORY, "build");

/** The first part of the file's name; the compiler's hash and `.node` follow it. */
export function nativeFilePrefix(): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(SOURCE_DIRECTORY).sort()) {
    if (!/\.(c|h|txt)$/.test(name)) continue;
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(SOURCE_DIRECTORY, name)))
      .update("\0");
  }
  return `latchkey-${process.platform}-${process.arch}${libc()}-${hash.digest("hex").slice(0, 16)}`;
}

/** The current sources' addon in `directory` (of several compilers, the last built), or why there is none. */
export function findNativeFile(directory: string): { readonly path: string } | { readonly reason: string } {
  const prefix = nativeFilePrefix();
  const names = listed(directory).filter((name) => name.startsWith(`${prefix}-`) && name.endsWith(".node"));
  const files = names.map((name) => ({
    path: join(directory, name),
    builtAt: statSync(join(directory, name)).mtimeMs,
  }));
  const [newest] = files.sort((a, b) => b.builtAt - a.builtAt || a.path.localeCompare(b.path));
  if (newest) return { path: newest.path };
  if (!listed(directory).includes(reasonFileName(prefix)))
    return { reason: "not built: run `bun run build:native`" };
  return { reason: `not built: ${readFileSync(join(directory, reasonFileName(prefix)), "utf8").trim()}` };
}

/** Where the builder says why it could not build. */
export function reasonFileName(prefix: string): string {
  return `${prefix}.txt`;
}

function listed(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** An addon must use the C library that this process has mapped: two in one process do not work together. */
function libc(): string {
  if (process.platform !== "linux") return "";
  try {
    return /\/(ld-musl-|libc\.musl-)/.test(readFileSync("/proc/self/maps", "utf8")) ? "-musl" : "-glibc";
  } catch {
    return "-glibc";
  }
}
