/** Checks values against TypeScript types, which reject unknown fields that the JSON schemas accept. */
import { join } from "node:path";
import ts from "typescript";

/**
 * Compiles each value as a literal of its type and returns the error messages.
 * @param values `from` is the module that exports the type, resolved from this folder
 */
export function typeErrorsOf(values: readonly { type: string; from: string; value: unknown }[]): string[] {
  const path = join(import.meta.dir, "kubernetes-values.ts");
  const source = values
    .map(
      ({ type, from, value }, index) =>
        `import type { ${type} } from "${from}";\nexport const value${index}: ${type} = ${JSON.stringify(value)};\n`,
    )
    .join("");
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    module: ts.ModuleKind.Preserve,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ESNext,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === path || fileExists(name);
  host.getSourceFile = (name, ...rest) =>
    name === path ? ts.createSourceFile(name, source, ts.ScriptTarget.ESNext) : getSourceFile(name, ...rest);
  const program = ts.createProgram([path], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}
