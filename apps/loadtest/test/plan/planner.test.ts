/** The planner: its arithmetic, and its command as an operator gives it. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { addPlanCommands } from "../../src/cli/plan-commands.ts";
import { LoadtestError } from "../../src/errors.ts";
import { createPlan, type PlanAsked } from "../../src/plan/planner.ts";
import { createService, withWorkers } from "../../src/plan/service-model.ts";
import { storesOf } from "../../src/plan/stores.ts";
import { exampleCapacity } from "../support/example-run.ts";

const folder = await mkdtemp(join(tmpdir(), "latchkey-plan-"));
afterAll(() => rm(folder, { recursive: true }));

const asked: PlanAsked = {
  loginsPerSecond: 1000,
  p99Ms: 600,
  headroomPercent: 20,
  poolSize: 10,
  maxConnections: 100,
};
const curve = [1, 2, 4, 8, 16, 32].map((concurrency) => ({
  concurrency,
  perSecond: (100 * concurrency) / (concurrency + 4),
}));
const service = createService({ curve, workers: 2, lanes: 16 });

async function run(...args: string[]): Promise<string> {
  let written = "";
  const program = new Command("loadtest")
    .option("--p99 <time>")
    .option("--json")
    .action(() => undefined);
  addPlanCommands(program, {
    signal: new AbortController().signal,
    write: (text) => {
      written += text;
    },
    note: () => undefined,
  });
  await program.parseAsync(args, { from: "user" });
  return written;
}

async function refusal(...args: string[]): Promise<LoadtestError> {
  const error = await run(...args).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof LoadtestError)) throw new Error(`No refusal: ${String(error)}`);
  return error;
}

async function capacityFile(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await Bun.write(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

describe("a plan", () => {
  const plan = createPlan(asked, service);

  test("has replicas for the load with headroom, and one more", () => {
    const { replicas, cores, replica } = plan;
    expect(replicas).toBe(Math.ceil(1000 / (0.8 * replica.highestPerSecond)) + 1);
    expect(replica.perSecond).toBeCloseTo(1000 / (replicas - 1), 9);
    expect(replica.perSecond).toBeLessThanOrEqual(0.8 * replica.highestPerSecond);
    expect(cores).toBe(2 * replicas);
  });

  test("predicts a latency within the bound, with the mean near the formula's", () => {
    const { simulated, meanByFormulaMs, utilisation, shedProbability } = plan.prediction;
    expect(simulated.p99.low).toBeLessThanOrEqual(simulated.p99.middle);
    expect(simulated.p99.high).toBeLessThanOrEqual(asked.p99Ms);
    // Entering a lane between slices is not in the formula: half a slice or so.
    expect(Math.abs(simulated.meanMs.middle - meanByFormulaMs)).toBeLessThan(6 + 0.05 * meanByFormulaMs);
    expect(utilisation).toBeCloseTo(plan.replica.perSecond / plan.replica.capacityPerSecond, 12);
    expect(shedProbability).toBeLessThan(1e-6);
  });

  test("a tighter bound needs more replicas, and larger replicas fewer cores for it", () => {
    const tight = createPlan({ ...asked, p99Ms: 150 }, service);
    expect(tight.replicas).toBeGreaterThan(plan.replicas);
    const large = createPlan({ ...asked, p99Ms: 150 }, withWorkers(service, 8));
    expect(large.cores).toBeLessThan(tight.cores);
  });

  test("is the same every time", () => {
    expect(createPlan(asked, service)).toEqual(plan);
  });

  test("a bound below one login alone is refused", () => {
    const impossible = () => createPlan({ ...asked, p99Ms: 40 }, service);
    expect(impossible).toThrow(
      /^Even a replica with almost nothing to do .* within \d+ ms, so no number of them holds 40 ms\.$/,
    );
  });
});

describe("the stores", () => {
  test("a login is one query and two scripts; connections double while pools are replaced", () => {
    expect(storesOf({ loginsPerSecond: 500, replicas: 4, poolSize: 10, maxConnections: 100 })).toEqual({
      postgres: {
        queriesPerSecond: 500,
        connections: 40,
        connectionsAtMost: 80,
        maxConnections: 100,
        isTooMany: false,
      },
      redis: { scriptsPerSecond: 1000 },
      memoryMegabytes: 600,
    });
  });

  test("too many connections are said to be", () => {
    const { postgres } = storesOf({ loginsPerSecond: 500, replicas: 5, poolSize: 10, maxConnections: 100 });
    expect(postgres).toMatchObject({ connectionsAtMost: 100, isTooMany: true });
  });
});

describe("the command", () => {
  test("takes the reference without a file, and says whose it is", async () => {
    const text = await run("plan", "--logins-per-second", "10000", "--p99", "1s");
    expect(text).toStartWith("10,000 logins/s, 99 % of them within 1,000 ms:\n");
    expect(text).toMatch(
      /\n {2}replicas +1\d\d: 1\d\d carry the load, one more may fail\n {2}cores +2\d\d: 2 for /,
    );
    expect(text).toMatch(
      /\n {2}PostgreSQL +10,000 queries\/s.*\n.* connections .*\n +more than max_connections=100 bears/,
    );
    expect(text).toMatch(/\n {2}Redis +20,000 scripts\/s/);
    expect(text).toMatch(/\n {2}mean +[\d.,]+ ms by formula, [\d.,]+ ms \([\d.,]+ to [\d.,]+\) simulated\n/);
    expect(text).toContain("Measured on a machine that is not yours: AMD EPYC");
  });

  test("takes a report of the capacity search, and gives the same as JSON", async () => {
    const path = await capacityFile("capacity.json", exampleCapacity());
    const text = await run("plan", "--logins-per-second", "60", "--capacity", path);
    expect(text).toContain("replicas    2: 1 carries the load, one more may fail\n");
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
    const json = JSON.parse(
      await run("plan", "--logins-per-second", "60", "--capacity", path, "--json", ...flags),
    );
    expect(json).toMatchObject({
      asked: { loginsPerSecond: 60, p99Ms: 1000, headroomPercent: 50, poolSize: 2, maxConnections: 300 },
      replicas: 2,
      cores: 8,
      replica: { cores: 4, perSecond: 60 },
      stores: { postgres: { queriesPerSecond: 60, connections: 4, connectionsAtMost: 8, isTooMany: false } },
      measured: { file: path, kernel: "avx512" },
    });
  });

  test("the portable kernel has one lane, where waiting in turn bears more load than sharing lanes", async () => {
    const highestOf = async (kernel: string): Promise<number> => {
      const report = exampleCapacity({
        kernel,
        lanes: null,
        curve: [{ concurrency: 2, perSecond: 30, p50: 66 }],
      });
      const path = await capacityFile(`${kernel}.json`, report);
      const json = await run(
        "plan",
        "--logins-per-second",
        "20",
        "--p99",
        "300ms",
        "--capacity",
        path,
        "--json",
      );
      return JSON.parse(json).replica.highestPerSecond;
    };
    expect(await highestOf("portable")).toBeGreaterThan(1.1 * (await highestOf("sha-ni")));
  });

  test.each([
    [[], "--logins-per-second is missing; --help shows what there is."],
    [
      ["--logins-per-second", "many"],
      '--logins-per-second must be a number from 0.1 to 1000000, not "many"; --help',
    ],
    [["--logins-per-second", "0"], "--logins-per-second must be a number from 0.1 to"],
    [["--logins-per-second", "5", "--p99", "1"], '--p99 must be a time such as 800ms or 1s, not "1"; --help'],
    [["--logins-per-second", "5", "--p99", "0ms"], "--p99 must be a time"],
    [["--logins-per-second", "5", "--headroom", "95"], "--headroom must be a number from 0 to 90"],
    [
      ["--logins-per-second", "5", "--cores-per-replica", "1.5"],
      "--cores-per-replica must be a whole number from 1",
    ],
    [["--logins-per-second", "5", "--p99", "10ms"], "Even a replica with almost nothing to do"],
    [["--logins-per-second", "5", "--capacity", "/nowhere.json"], "/nowhere.json cannot be read: "],
  ])("%j is refused in a sentence", async (args, sentence) => {
    const { message, exitCode } = await refusal("plan", ...args);
    expect(message).toStartWith(sentence);
    expect(message).not.toContain("\n");
    expect(exitCode).toBe(64);
  });

  test.each([
    ["not JSON", "{", "cannot be read: it is not JSON."],
    ["another document", { version: 1 }, "is no report of --find-capacity: "],
    ["an empty curve", exampleCapacity({ curve: [] }), "is no report of --find-capacity: curve "],
    ["no workers", exampleCapacity({ cores: null }), "does not say how many hash workers"],
  ])("a capacity file with %s is refused in a sentence", async (_name, content, sentence) => {
    const path = await capacityFile("faulty.json", content);
    const { message, exitCode } = await refusal("plan", "--logins-per-second", "5", "--capacity", path);
    expect(message).toStartWith(`${path} ${sentence}`);
    expect(exitCode).toBe(64);
  });
});
