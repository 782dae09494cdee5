/** The command `plan`. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { ROOT } from "@latchkey/testing/repository";
import { exampleCapacity } from "../support/example-run.ts";
import { run } from "../support/program.ts";

/** Runs `plan` with a file of this content. */
async function plan(content: string, flags: string) {
  await using folder = await openFolder();
  const path = join(folder.path, "capacity.json");
  await Bun.write(path, content);
  const { stderr, ...result } = await run(`plan --capacity ${path} ${flags}`);
  return { ...result, stderr: stderr.replace(path, "FILE") };
}

test("a plan has the replicas, connections and queries of the example in docs/capacity.md", async () => {
  const document = await Bun.file(join(ROOT, "docs/capacity.md")).text();
  const [, example = ""] = /```\n(16,667 logins[^`]+)```/.exec(document) ?? [];
  const capacity = {
    ...exampleCapacity(),
    startedAt: "2026-11-22T09:56:43.104Z",
    machine: "Intel Xeon, 2 cores, Bun 1.4.5",
    loginsPerSecond: 82.3,
    p99BoundMs: 800,
  };
  const { code, stdout } = await plan(JSON.stringify(capacity), "--logins-per-second 16667");
  expect({ code, stdout }).toEqual({ code: 0, stdout: example });
});

test("a plan is printed as JSON, with other headroom and another pool", async () => {
  const flags = "--logins-per-second 60 --headroom 50 --pool-size 2 --json";
  const { stdout } = await plan(JSON.stringify(exampleCapacity({ loginsPerSecond: 50 })), flags);
  expect(JSON.parse(stdout)).toMatchObject({
    asked: { loginsPerSecond: 60, headroomPercent: 50, poolSize: 2 },
    ...{ replicas: 4, loginsPerReplica: 20, queriesPerSecond: 120, connections: 8, connectionsAtMost: 24 },
  });
});

test.each([
  ["--logins-per-second many", '--logins-per-second must be a number from 0.1 to 1000000, not "many"'],
  ["--logins-per-second 5 --headroom 95", "--headroom must be a number from 0 to 90"],
  ["--logins-per-second 5", "--capacity is required; see --help."],
  ["--logins-per-second 5 --capacity /nowhere.json", "/nowhere.json cannot be read: "],
])("the arguments %j are rejected in one sentence", async (args, sentence) => {
  const { code, stderr } = await run(`plan ${args}`);
  expect(code).toBe(64);
  expect(stderr).toStartWith(sentence);
});

const NO_CAPACITY = "FILE is not a report of --find-capacity in which a rate passed.\n";
test.each([
  ["{", "FILE cannot be read: it is not JSON.\n"],
  ["{}", NO_CAPACITY],
  [JSON.stringify(exampleCapacity({ loginsPerSecond: 0 })), NO_CAPACITY],
])("the file %j is rejected in one sentence", async (content, stderr) => {
  expect(await plan(content, "--logins-per-second 5")).toEqual({ code: 64, stdout: "", stderr });
});
