/** The TypeScript files of this repository and what each of them imports. */
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";

export const ROOT = resolve(import.meta.dir, "..");

export interface SourceFile {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly text: string;
  /** Imported specifiers, including type imports; relative ones as paths from the root. */
  readonly imports: readonly string[];
}

/** Reads all TypeScript files of apps, packages, deployment tests and scripts. */
export function readSources(): Promise<SourceFile[]> {
  const paths = [...new Bun.Glob("{apps,packages,deploy,scripts}/**/*.ts").scanSync(ROOT)];
  return Promise.all(
    paths
      .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path))
      .sort()
      .map(async (path) => parseSource(path, await Bun.file(join(ROOT, path)).text())),
  );
}

export function parseSource(path: string, text: string): SourceFile {
  const imports = ts
    .preProcessFile(text, true, true)
    .importedFiles.map(({ fileName }) =>
      fileName.startsWith(".") ? relative(ROOT, resolve(ROOT, dirname(path), fileName)) : fileName,
    );
  return { path, text, imports };
}
