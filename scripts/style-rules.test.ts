/** The parts of the code style that Biome cannot check. Each check has an example that fails. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import ts from "typescript";
import { parseSource, ROOT, readSources, type SourceFile } from "./source-tree.ts";

const HEADER = /^(#!.*\n)?\/\*\*([^*]|\*(?!\/))*\*\/\n(?!\nimport )/;
const MIN_LINES_WITH_HEADER = 40;
const CONSTANT_CASE = /^_?[A-Z][A-Z0-9_]*$/;

const trees = new WeakMap<SourceFile, ts.SourceFile>();

/** Parses each file once for all checks. */
function parse(file: SourceFile): ts.SourceFile {
  const tree = trees.get(file) ?? ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
  trees.set(file, tree);
  return tree;
}

/** Longer files that do not start with a comment, or have a blank line between it and the imports. */
const filesWithoutHeader = (files: readonly SourceFile[]): string[] =>
  files
    .filter(({ text }) => text.split("\n").length > MIN_LINES_WITH_HEADER && !HEADER.test(text))
    .map(({ path }) => path);

const isLiteral = (node: ts.Expression | undefined): boolean =>
  node !== undefined &&
  (ts.isLiteralExpression(node) || (ts.isPrefixUnaryExpression(node) && isLiteral(node.operand)));

/** Module-level constants outside of tests that are a number, a text or a regular expression and not in CONSTANT_CASE. */
const misnamedConstants = (files: readonly SourceFile[]): string[] =>
  files
    .filter(({ path }) => !path.includes("/test/"))
    .flatMap((file) =>
      parse(file)
        .statements.filter(ts.isVariableStatement)
        .filter(({ declarationList }) => (declarationList.flags & ts.NodeFlags.Const) !== 0)
        .flatMap(({ declarationList }) => [...declarationList.declarations])
        .filter(({ name, initializer }) => isLiteral(initializer) && !CONSTANT_CASE.test(name.getText()))
        .map(({ name }) => `${file.path}: ${name.getText()}`),
    );

/** The names of the values, not types, that a file exports. */
const exportsOf = (file: SourceFile): string[] =>
  parse(file)
    .statements.filter(
      (node) =>
        ts.canHaveModifiers(node) &&
        ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword),
    )
    .flatMap((node) => {
      if (ts.isVariableStatement(node))
        return node.declarationList.declarations.map(({ name }) => name.getText());
      return ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)
        ? [node.name?.text ?? "default"]
        : [];
    });

/** Exported values whose name occurs in no other file. */
function unusedExports(files: readonly SourceFile[]): string[] {
  const filesOf = new Map<string, number>();
  for (const { text } of files) {
    for (const word of new Set(text.match(/[\w$]+/g))) filesOf.set(word, (filesOf.get(word) ?? 0) + 1);
  }
  return files.flatMap((file) =>
    exportsOf(file)
      .filter((name) => filesOf.get(name) === 1)
      .map((name) => `${file.path}: ${name}`),
  );
}

const contributing = await Bun.file(join(ROOT, "CONTRIBUTING.md")).text();
const [, , purposes = ""] = contributing.split(/^(## Tests)$/m);
/** The tests without a source file of the same name, as CONTRIBUTING lists them with their purposes. */
const mapOfPurposes = [...purposes.matchAll(/^- ([^:]+):/gm)]
  .flatMap(([, paths = ""]) => [...paths.matchAll(/`([^`]+)`/g)])
  .map(([, pattern = ""]) => new Bun.Glob(pattern));

/** `apps/x/test/a/b.test.ts` tests `apps/x/src/a/b.ts` or `apps/x/a/b.ts`, and `scripts/a.test.ts` tests `scripts/a.ts`. */
const sourcesOf = (test: string): readonly string[] =>
  ["src/", ""].map((folder) => test.replace(/\/test\//, `/${folder}`).replace(/\.test\.ts$/, ".ts"));

/** Tests whose name does not show what they test, and that the map of purposes does not list. */
function unexplainedTests(files: readonly SourceFile[]): string[] {
  const paths = new Set(files.map(({ path }) => path));
  return [...paths].filter(
    (path) =>
      path.endsWith(".test.ts") &&
      !sourcesOf(path).some((source) => paths.has(source)) &&
      !mapOfPurposes.some((pattern) => pattern.match(path)),
  );
}

const CHECKS = [
  {
    name: "each file of 40 lines or more starts with a comment, without a blank line before the imports",
    check: filesWithoutHeader,
    example: `/** A comment. */\n\nimport "x";\n${"run();\n".repeat(37)}`,
  },
  {
    name: "module-level constants with a literal value are in CONSTANT_CASE",
    check: misnamedConstants,
    example: "const limitMs = -1;",
  },
  {
    name: "each exported value is used by another file",
    check: unusedExports,
    example: "export const a = 1;",
  },
  {
    name: "each test file has a source file of the same name or a line in CONTRIBUTING's map of purposes",
    check: unexplainedTests,
    path: "apps/x/test/a.test.ts",
    example: "",
  },
];

const sources = await readSources();

test.each(CHECKS.map((check) => [check.name, check] as const))("%s", (_name, { check, path, example }) => {
  expect(check(sources)).toEqual([]);
  expect(check([parseSource(path ?? "apps/x/src/a.ts", example)])).toHaveLength(1);
});

test("each line of the map of purposes has a test", () => {
  expect(mapOfPurposes.length).toBeGreaterThan(0);
  for (const pattern of mapOfPurposes) expect(sources.some(({ path }) => pattern.match(path))).toBe(true);
});
