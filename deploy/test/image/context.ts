/** The build context: the files of the checkout that `.dockerignore` does not exclude. */
import { cp, mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";

interface Rule {
  readonly glob: Bun.Glob;
  readonly pattern: string;
  readonly isException: boolean;
}

/** Patterns and `!` exceptions, one per line; the last one that matches a path or a parent folder applies. */
export function parseIgnoreFile(text: string): Rule[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const isException = line.startsWith("!");
      const pattern = isException ? line.slice(1) : line;
      return { glob: new Bun.Glob(pattern), pattern, isException };
    });
}

export function isIgnored(rules: readonly Rule[], path: string): boolean {
  const parts = path.split("/");
  const paths = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
  const last = rules.findLast(({ glob }) => paths.some((candidate) => glob.match(candidate)));
  return last !== undefined && !last.isException;
}

/** Paths, relative to `root`, of all files that its `.dockerignore` includes. */
export async function listContext(root: string): Promise<string[]> {
  const rules = parseIgnoreFile(await Bun.file(join(root, ".dockerignore")).text());
  return (await listFolder(root, "", rules)).sort();
}

async function listFolder(root: string, folder: string, rules: readonly Rule[]): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const lists = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return isIgnored(rules, path) ? [] : [path];
    const hasException = rules.some(
      ({ isException, pattern }) => isException && pattern.startsWith(`${path}/`),
    );
    return isIgnored(rules, path) && !hasException ? [] : listFolder(root, path, rules);
  });
  return (await Promise.all(lists)).flat();
}

export async function copyContext(root: string, target: string): Promise<void> {
  for (const path of await listContext(root)) {
    await mkdir(dirname(join(target, path)), { recursive: true });
    await cp(join(root, path), join(target, path));
  }
}
