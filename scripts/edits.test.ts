/** A change needs only the places that CONTRIBUTING lists: one of them is made in a copy of this checkout. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./source-tree.ts";

/** What "**A variable**" lists, except the file that uses the variable, and the change of each place. */
const EDITS: Readonly<Record<string, (text: string) => string>> = {
  "packages/config/src/variables.ts": (text) =>
    text.replace(
      "  LOG_LEVEL: variable(",
      '  EXAMPLE_SECONDS: variable(wholeNumber(1, 60), { default: "7", description: "An example" }),\n  LOG_LEVEL: variable(',
    ),
  "apps/gateway/src/config.ts": (text) =>
    text.replace("    log: { level:", "    exampleSeconds: values.EXAMPLE_SECONDS,\n    log: { level:"),
};
/** What can fail because of a variable. */
const TESTS = ["packages/config", "apps/gateway/test/config.test.ts", "scripts/configuration-tables.test.ts"];

let copy = "";
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "latchkey-edits-"));
  await cp(ROOT, copy, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !/\/(\.git|\.bun|\.turbo|dist|data)$/.test(path),
  });
  await symlink(join(ROOT, "node_modules/.bun"), join(copy, "node_modules/.bun"));
});
afterAll(() => rm(copy, { recursive: true, force: true }));

const run = (...args: readonly string[]) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, ...args], { cwd: copy });
  return { exitCode, output: `${stdout}${stderr}` };
};

test("a variable needs the places that CONTRIBUTING lists, and no other", async () => {
  const contributing = await Bun.file(join(ROOT, "CONTRIBUTING.md")).text();
  const [, listed = ""] = /^\*\*A variable\*\*: (.+?)\n\n/ms.exec(contributing) ?? [];
  expect([...listed.matchAll(/([\w./-]+\.ts)`/g)].map(([, path]) => path)).toEqual([
    ...Object.keys(EDITS),
    "scripts/configuration-tables.ts",
  ]);
  for (const [path, edit] of Object.entries(EDITS)) {
    const file = join(copy, path);
    const text = await Bun.file(file).text();
    expect(edit(text)).not.toBe(text);
    await Bun.write(file, edit(text));
  }
  expect(run("scripts/configuration-tables.ts")).toMatchObject({ exitCode: 0 });
  expect(run("test", ...TESTS)).toMatchObject({ exitCode: 0 });
}, 120_000);
