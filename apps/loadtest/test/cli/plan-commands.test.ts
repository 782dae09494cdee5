/** The commands `plan` and `validate` as an operator runs them. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exampleCapacity } from "../support/example-run.ts";
import { run } from "../support/program.ts";

const folder = await mkdtemp(join(tmpdir(), "latchkey-plan-"));
afterAll(() => rm(folder, { recursive: true }));

async function plan(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run("plan", ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

async function expectRejected(sentence: string, ...args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await run("plan", ...args);
  expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
  expect(stderr).toStartWith(sentence);
  expect(stderr.trimEnd()).not.toContain("\n");
}

async function writeCapacity(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await Bun.write(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

describe("plan", () => {
  test("uses the reference without a file, and names its machine", async () => {
    const text = await plan("--logins-per-second", "10000", "--p99", "1s");
    expect(text).toStartWith("10,000 logins/s, 99 % of them within 1,000 ms:\n");
    expect(text).toMatch(
      /\n {2}replicas +1\d\d: 1\d\d handle the load, one is spare\n {2}cores +3\d\d: 2 for /,
    );
    expect(text).toMatch(
      /\n {2}PostgreSQL +20,000 queries\/s.*\n.* connections .*\n +exceeds max_connections=100: /,
    );
    expect(text).toMatch(/\n {2}Redis +20,000 scripts\/s/);
    expect(text).toMatch(
      /\n {2}mean +at most [\d.,]+ ms by formula, [\d.,]+ ms \([\d.,]+ to [\d.,]+\) simulated\n/,
    );
    expect(text).toContain("Measured on a reference machine: Intel Xeon");
  });

  test("gives the figures of the table in docs/capacity.md", async () => {
    const flags = ["--logins-per-second", "16667", "--p99", "1s", "--json", "--cores-per-replica"];
    const texts = await Promise.all(["2", "16", "64"].map((cores) => plan(...flags, cores)));
    const plans = texts.map((text) => JSON.parse(text));
    const rows: readonly (readonly [string, ...number[]])[] = [
      ["replicas, including one spare", ...plans.map(({ replicas }) => replicas)],
      ["cores", ...plans.map(({ cores }) => cores)],
      ["predicted p99, ms", ...plans.map(({ prediction }) => Math.round(prediction.simulated.p99.middle))],
      ["connections, 10 per replica", ...plans.map(({ stores }) => stores.postgres.connections)],
    ];
    const table = rows.map((row) => `| ${row.map((cell) => cell.toLocaleString("en")).join(" | ")} |\n`);
    const document = await Bun.file(join(import.meta.dir, "../../../../docs/capacity.md")).text();
    expect(document).toContain(`\n${table.join("")}\n`);
  }, 120_000);

  test("uses a report of the capacity search, and prints JSON", async () => {
    const path = await writeCapacity("capacity.json", exampleCapacity());
    const text = await plan("--logins-per-second", "60", "--capacity", path);
    expect(text).toContain("replicas    2: 1 handles the load, one is spare\n");
    expect(text).toContain(`Measured: ${path}, on AMD EPYC 9354P`);
    const flags = [
      "--cores-per-replica",
      "4",
      "--headroom",
      "50",
      "--pool-size",
      "2",
      "--max-connections",
      "300",
    ];
    const json = JSON.parse(await plan("--logins-per-second", "60", "--capacity", path, "--json", ...flags));
    expect(json).toMatchObject({
      asked: { loginsPerSecond: 60, p99Ms: 1000, headroomPercent: 50, poolSize: 2, maxConnections: 300 },
      replicas: 2,
      cores: 8,
      replica: { cores: 4, perSecond: 60 },
      stores: { postgres: { queriesPerSecond: 120, connections: 4, connectionsAtMost: 8, isTooMany: false } },
      measured: { file: path, kernel: "avx512" },
    });
  });

  test("uses the lanes of the report: one per worker allows a higher rate than shared lanes", async () => {
    const highestOf = async (lanes: number): Promise<number> => {
      const report = exampleCapacity({
        lanes,
        curve: [{ concurrency: 2, perSecond: 30, p50: 66 }],
      });
      const path = await writeCapacity(`${lanes}-lanes.json`, report);
      const json = await plan("--logins-per-second", "20", "--p99", "300ms", "--capacity", path, "--json");
      return JSON.parse(json).replica.highestPerSecond;
    };
    expect(await highestOf(2)).toBeGreaterThan(1.1 * (await highestOf(32)));
  });

  test.each([
    [[], "--logins-per-second is required; see --help."],
    [
      ["--logins-per-second", "many"],
      '--logins-per-second must be a number from 0.1 to 1000000, not "many"; see --help',
    ],
    [["--logins-per-second", "0"], "--logins-per-second must be a number from 0.1 to"],
    [
      ["--logins-per-second", "5", "--p99", "1"],
      '--p99 must be a time such as 800ms or 1s, not "1"; see --help',
    ],
    [["--logins-per-second", "5", "--p99", "0ms"], "--p99 must be a time"],
    [["--logins-per-second", "5", "--headroom", "95"], "--headroom must be a number from 0 to 90"],
    [
      ["--logins-per-second", "5", "--cores-per-replica", "1.5"],
      "--cores-per-replica must be a whole number from 1",
    ],
    [["--logins-per-second", "5", "--p99", "10ms"], "No number of replicas has a p99 of 10 ms"],
    [["--logins-per-second", "5", "--capacity", "/nowhere.json"], "/nowhere.json cannot be read: "],
  ])("rejects the arguments %j in one sentence", (args, sentence) => expectRejected(sentence, ...args));

  test.each([
    ["not JSON", "{", "cannot be read: it is not JSON."],
    ["another document", { version: 1 }, "is not a report of --find-capacity: "],
    ["an empty curve", exampleCapacity({ curve: [] }), "is not a report of --find-capacity: curve "],
    ["no workers", exampleCapacity({ cores: null }), "does not contain the number of hash workers"],
  ])("rejects a capacity file with %s in one sentence", async (_name, content, sentence) => {
    const path = await writeCapacity("invalid.json", content);
    await expectRejected(`${path} ${sentence}`, "--logins-per-second", "5", "--capacity", path);
  });
});

test.each([
  [[], "--url is required"],
  [["--url", "http://127.0.0.1:1"], "--capacity is required"],
  [["--url", "http://127.0.0.1:1", "--capacity", "/nowhere.json"], "/nowhere.json cannot be read: "],
  [["--url", "http://127.0.0.1:1", "--capacity", "x", "--duration", "4"], "--duration must be"],
])("validate rejects the arguments %j in one sentence", async (args, sentence) => {
  const { code, stdout, stderr } = await run("validate", ...args);
  expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
  expect(stderr).toStartWith(sentence);
});
