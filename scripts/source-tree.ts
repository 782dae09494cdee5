/** The project's own sources as the house rules see them: which files there are and what each imports. */
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";

export const ROOT = resolve(import.meta.dir, "..");

export interface SourceFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
  /** Specifiers, types-only imports included; relative ones as paths from the root. */
  readonly imports: readonly string[];
}

/** Every TypeScript file below `apps` and `packages` that matches `pattern`. */
export async function readSources(
  pattern = "{apps,packages}/*/{src,test,bench}/**/*.ts",
): Promise<SourceFile[]> {
  const paths = [...new Bun.Glob(pattern).scanSync(ROOT)]
    .filter((path) => !path.includes("node_modules"))
    .sort();
  return Promise.all(paths.map(readSource));
}

async function readSource(path: string): Promise<SourceFile> {
  const text = await Bun.file(join(ROOT, path)).text();
  const imports = ts
    .preProcessFile(text, true, true)
    .importedFiles.map(({ fileName }) =>
      fileName.startsWith(".") ? relative(ROOT, resolve(ROOT, dirname(path), fileName)) : fileName,
    );
  return { path, text, imports };
}
