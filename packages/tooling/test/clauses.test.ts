/** The table in CONTRIBUTING from clauses to tests: each row names a test that is there and is not switched off. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import ts from "typescript";
import { ROOT } from "../src/source-tree.ts";

const ROW = /^\| (?<clause>.+?) \| `(?<file>[^`›]+) › (?<name>.+)` \|$/;

interface Row {
  readonly clause: string;
  readonly file: string;
  readonly name: string;
}

async function readRows(): Promise<Row[]> {
  const lines = (await Bun.file(join(ROOT, "CONTRIBUTING.md")).text()).split("\n");
  return lines.flatMap((line) => {
    const { clause = "", file = "", name = "" } = ROW.exec(line)?.groups ?? {};
    return file ? [{ clause, file, name }] : [];
  });
}

/** Names of the tests of a file as they are written, without those of the enclosing `describe`. */
async function testNamesOf(file: string): Promise<Set<string>> {
  const text = await Bun.file(join(ROOT, file)).text();
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const [first] = node.arguments;
      const callee = node.expression.getText(tree);
      const runs = /^(test|it)\b/.test(callee) && !/\.(skip|todo|failing)\b/.test(callee);
      if (runs && first && ts.isStringLiteralLike(first)) names.add(first.text);
    }
    ts.forEachChild(node, visit);
  };
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  visit(tree);
  return names;
}

describe("clauses", async () => {
  const rows = await readRows();

  test("the table covers both documents", () => {
    expect(rows.length).toBeGreaterThan(60);
  });

  test("every row names a test that exists and runs", async () => {
    const missing: string[] = [];
    const names = new Map<string, Set<string>>();
    for (const { file, name } of rows) {
      if (!names.has(file)) names.set(file, await testNamesOf(file));
      const last = name.split(" › ").at(-1) ?? "";
      if (!names.get(file)?.has(last)) missing.push(`${file} › ${name}`);
    }
    expect(missing).toEqual([]);
  });
});
