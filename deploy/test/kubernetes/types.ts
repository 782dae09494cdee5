/** Checks manifests against TypeScript types, which reject unknown fields that the JSON schemas accept. */
import { join } from "node:path";
import ts from "typescript";

/** The packages of the types that are not Kubernetes's own, by API version. */
const MODELS: Readonly<Record<string, string>> = {
  "monitoring.coreos.com/v1": "@kubernetes-models/prometheus-operator",
  "keda.sh/v1alpha1": "@kubernetes-models/keda",
};

/** Compiles each manifest as a literal of its type and returns the error messages. */
export function typeErrorsOf(
  manifests: readonly { readonly apiVersion: string; readonly kind: string }[],
): string[] {
  const path = join(import.meta.dir, "manifests.ts");
  const statements = manifests.map((manifest) => {
    const { apiVersion, kind } = manifest;
    const from = `${MODELS[apiVersion] ?? "kubernetes-models"}/${apiVersion}/${kind}`;
    return `(${JSON.stringify(manifest)}) satisfies import("${from}").I${kind};`;
  });
  const modules = { module: ts.ModuleKind.Preserve, target: ts.ScriptTarget.ESNext, types: [] };
  const options = { ...modules, strict: true, noEmit: true, skipLibCheck: true };
  const host = ts.createCompilerHost(options);
  const { readFile } = host;
  host.readFile = (name) => (name === path ? statements.join("\n") : readFile(name));
  return ts
    .getPreEmitDiagnostics(ts.createProgram([path], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}
