/** The decisions of deploy/roll.sh, with a `docker` that keeps its containers in a folder. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { ROOT } from "@latchkey/testing/repository";
import { MAX_REPLICAS } from "../compose/balancer.ts";
import { readCompose } from "../compose/compose-file.ts";

const script = await Bun.file(join(ROOT, "deploy/roll.sh")).text();
/** A replica that never becomes ready is asked twice, not for two minutes. */
const IMPATIENT = script.replace("ready_seconds=120\n", "ready_seconds=2\n");

const DEFAULTS = {
  /** The number of replicas in `.env`. */
  replicas: 2,
  /** Existing replicas 1, 2, … of the image `old`. */
  existing: 2,
  /** The step that fails. */
  fail: "",
  /** The number of the docker command at which Ctrl-C is pressed. */
  interrupt: 0,
  args: [] as readonly string[],
  /** Whether another run is in progress. */
  locked: false,
};

async function roll(options: Partial<typeof DEFAULTS> = {}) {
  const { replicas, existing, fail, interrupt, args, locked } = { ...DEFAULTS, ...options };
  await using folder = await openFolder();
  const STATE = folder.path;
  await mkdir(join(STATE, "containers"));
  for (let id = 1; id <= existing; id++) await Bun.write(join(STATE, `containers/${id}`), "old\n");
  await Bun.write(join(STATE, "latchkey"), "old\n");
  if (locked) await mkdir(join(STATE, "lock"));
  const copy = join(STATE, "deploy/roll.sh");
  await Bun.write(copy, IMPATIENT);
  const PATH = `${import.meta.dir}:${process.env.PATH}`;
  const env = { PATH, STATE, FAIL: fail, REPLICAS: String(replicas), INTERRUPT: String(interrupt) };
  // In its own process group, as in a terminal.
  const command = ["setsid", "--wait", "sh", copy, ...args];
  await using child = Bun.spawn(command, { env, stdout: "ignore", stderr: "pipe" });
  // Ends when the script and the process that holds the lock have ended.
  const errors = await child.stderr.text();
  const read = async (name: string) => (await Bun.file(join(STATE, name)).text()).trimEnd();
  return {
    code: await child.exited,
    errors,
    containers: (await readdir(join(STATE, "containers"))).sort((a, b) => Number(a) - Number(b)),
    latchkey: await read("latchkey"),
    calls: (await read("calls")).split("\n"),
    previous: await read("previous").catch(() => null),
    locked: existsSync(join(STATE, "lock")),
  };
}

const kept = { containers: ["1", "2"], latchkey: "old" };

test("new replicas replace the old ones, start one after another, and the image of the old ones stays for a rollback", async () => {
  const { errors: _, calls, ...result } = await roll();
  const replaced = { containers: ["3", "4"], latchkey: "new", previous: "old" };
  expect(result).toEqual({ code: 0, ...replaced, locked: false });
  const starts = calls
    .filter((call) => /^(compose up --detach|exec) /.test(call))
    .map((call) => call.split(" ")[0]);
  expect(starts).toEqual(["compose", "exec", "compose", "exec"]);
  const lastCheck = calls.findLastIndex((call) => call.startsWith("exec "));
  expect(calls.findIndex((call) => call.startsWith("stop "))).toBeGreaterThan(lastCheck);
});

test.each([
  [5, ["3", "4", "5", "6", "7"]],
  [1, ["3"]],
])("the number of replicas in .env applies: %p", async (replicas, containers) => {
  expect(await roll({ replicas })).toMatchObject({ code: 0, containers });
});

test("--no-build starts the image as it is", async () => {
  const { code, latchkey, calls } = await roll({ args: ["--no-build"] });
  expect({ code, latchkey }).toEqual({ code: 0, latchkey: "old" });
  expect(calls).not.toContain("compose build gateway");
});

test.each([
  ["build", 1, "build the image"],
  ["configuration", 78, "check the settings"],
  ["migration", 65, "migrate the database"],
  ["up", 1, "start the new replicas"],
  ["start", 1, "start the new replicas"],
  ["ready", 1, "start the new replicas"],
])("the old replicas keep serving after a failure: %s", async (fail, code, step) => {
  const result = await roll({ fail });
  expect(result).toMatchObject({ code, ...kept });
  expect(result.errors).toEndWith(`roll.sh: Failed: ${step}. The old replicas keep serving.\n`);
  expect(result.calls.filter((call) => /^stop .* [12]( |$)/.test(call))).toEqual([]);
  if (/start|ready/.test(fail)) expect(result.errors).toContain("the log of the replica");
});

inFullRun(test)("a failed clean-up prints the commands", async () => {
  const { code, errors } = await roll({ fail: "ready,stop" });
  expect(code).toBe(1);
  expect(errors).toContain("Remove the new replicas: docker rm --force 3");
});

test.each([
  ["the balancer does not support as many replicas", { replicas: 19 }, "21 replicas would run at once"],
  ["no replica is running", { existing: 0 }, "docker compose up"],
  ["no replica is wanted", { replicas: 0 }, "GATEWAY_REPLICAS"],
  ["another run is in progress", { locked: true }, "Another run is in progress."],
])("nothing starts or stops if %s", async (_, options, message) => {
  const { code, errors, calls } = await roll(options);
  expect([code, errors]).toEqual([1, expect.stringContaining(message)]);
  expect(calls.filter((call) => /^(compose (up|build|run)|stop|rm|tag)/.test(call))).toEqual([]);
});

test("kill -9 leaves no lock", async () => {
  const { calls, locked } = await roll({ fail: "kill" });
  expect([calls.at(-1), locked]).toEqual(["compose build gateway", false]);
});

inFullRun(test)("Ctrl-C at any step keeps all replicas of one version, and names what is left", async () => {
  const { calls } = await roll();
  const steps = calls.map((_, index) => index + 1);
  const results = await Promise.all(steps.map((interrupt) => roll({ interrupt })));
  for (const [index, { code, containers, latchkey, errors }] of results.entries()) {
    const call = calls[index] ?? "";
    const replaced = index >= calls.findIndex((name) => name.startsWith("stop "));
    expect([call, code]).toEqual([call, 130]);
    if (replaced) {
      expect(containers).toEqual(expect.arrayContaining(["3", "4"]));
      expect([latchkey, errors]).toEqual(["new", expect.stringContaining("docker rm 1 2")]);
    } else {
      expect([call, { containers, latchkey }]).toEqual([call, kept]);
      expect(errors).toEndWith("The old replicas keep serving.\n");
    }
  }
});

test("the script agrees with the number of servers of the balancer and the grace period of Compose", async () => {
  expect(script).toContain(`max_replicas=${MAX_REPLICAS}\n`);
  const seconds = new Set([...script.matchAll(/docker stop -t (\d+)/g)].map(([, value]) => `${value}s`));
  expect([...seconds]).toEqual([readCompose().services.gateway?.stop_grace_period ?? ""]);
});
