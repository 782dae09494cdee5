/** Reads what a package's runner wrote as JUnit XML: counts, failed tests, and what the default run left out. */
import { dirname } from "node:path";

const TEST =
  /<testcase name="([^"]*)" classname="([^"]*)"[^>]*? file="([^"]*)" line="(\d+)"[^>]*>\s*<(failure|skipped)/g;
const TOTALS = ["tests", "time"] as const;
/** Part of the names of tests that only the full run includes: `packages/testing/src/full-run.ts`. */
const LEFT_OUT = "[full run]";
const ENTITIES: Readonly<Record<string, string>> = { quot: '"', apos: "'", lt: "<", gt: ">", amp: "&" };

export interface Results {
  readonly passed: number;
  readonly failed: number;
  /** Tests that lack a program or a permission. */
  readonly skipped: number;
  readonly seconds: number;
  /** One line for each failed test. */
  readonly failures: readonly string[];
  /** The file of each test that only the full run includes, from the root of the repository. */
  readonly leftOut: readonly string[];
}

const decode = (text: string): string =>
  text.replaceAll(/&(\w+);/g, (entity, name) => ENTITIES[name] ?? entity);

/** @param folder of the package, from the root of the repository */
export function parseResults(xml: string, folder: string): Results {
  const root = /<testsuites [^>]*>/.exec(xml)?.[0] ?? "";
  const [tests = 0, seconds = 0] = TOTALS.map((name) =>
    Number(new RegExp(` ${name}="([\\d.]+)"`).exec(root)?.[1] ?? 0),
  );
  const failures: string[] = [];
  const leftOut: string[] = [];
  let skipped = 0;
  for (const [, name = "", group = "", file = "", line, outcome] of xml.matchAll(TEST)) {
    if (outcome === "failure") failures.push(`  ${folder}/${file}:${line}  ${decode(name)}`);
    else if (`${group} ${name}`.includes(LEFT_OUT)) leftOut.push(`${folder}/${file}`);
    else skipped += 1;
  }
  const passed = tests - failures.length - skipped - leftOut.length;
  return { passed, failed: failures.length, skipped, seconds, failures, leftOut };
}

/** Says which tests the default run left out, by folder, and how to run them. Empty if it left out none. */
export function describeLeftOut(files: readonly string[]): string {
  if (files.length === 0) return "";
  const countOf = new Map<string, number>();
  for (const file of files) {
    const folder = dirname(file).split("/").slice(0, 4).join("/");
    countOf.set(folder, (countOf.get(folder) ?? 0) + 1);
  }
  const folders = [...countOf].sort(([, a], [, b]) => b - a).map(([folder, count]) => `${folder} ${count}`);
  return [
    `Left out: ${files.length} tests in ${new Set(files).size} files, which need minutes, images, earlier releases,`,
    `package managers, other compilers or browsers (${folders.join(", ")}).`,
    "Run them too: bun run test --full",
  ].join("\n");
}
