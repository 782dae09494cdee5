/** The load tester against a service in a separate process. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { inFullRun } from "@latchkey/testing/full-run";
import { ROOT } from "@latchkey/testing/repository";
import { post } from "@latchkey/testing/service-process";
import { QUERIES_PER_LOGIN } from "../../src/capacity/plan.ts";
import { scenarioNames } from "../../src/load/scenarios.ts";
import { startFakeService } from "../support/fake-service.ts";
import { run, start, startOnTerminal } from "../support/program.ts";
import { runOptionsOf, runWithUsers } from "../support/run-options.ts";
import { startUnlimited } from "../support/unlimited-service.ts";

let service: Awaited<ReturnType<typeof startUnlimited>>;
beforeAll(async () => {
  service = await startUnlimited();
});
afterAll(() => service[Symbol.asyncDispose]());

const number = expect.any(Number);

test("a run creates users, logs in, reports logins, statuses and probes as JSON, and deletes the users", async () => {
  const line = `--url ${service.url}/ --concurrency 2 --duration 2 --users 2 --json`;
  const { code, stdout, stderr } = await run(line);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({
    version: 1,
    asked: runOptionsOf({
      ...{ url: service.url, load: { kind: "closed", concurrency: 2 } },
      ...{ durationSeconds: 2, users: 2 },
    }),
    outcome: "complete",
    countedSeconds: 2,
    all: { statuses: { "200": report.all.latency.count }, errors: 0, latency: { "p99.9": number } },
    operations: { login: report.all },
    seconds: [0, 1].map((second) => ({ second, errors: 0 })),
    probe: { failure: null },
    driver: { cpuShare: number, waitShare: number, lateness: null, bottleneck: null },
    server: null,
    command: `bun run loadtest ${line}`,
  });
  expect(report.all.perSecond).toBeCloseTo(report.all.latency.count / 2, 1);
  expect(report.probe.latency.count).toBeGreaterThan(20);
  expect(await service.remainingUsers()).toBe(0);
});

test("wrong credentials are not errors, and with --json a failed assertion is reported on standard error", async () => {
  const load = `--url ${service.url} --users 4 --rate 20 --arrivals constant --duration 1 --timeout 30`;
  const logins = `--wrong 30 --unknown 30 --metrics ${service.metrics}`;
  const { code, stdout, stderr } = await run(`${load} ${logins} --assert login.rate>1000/s --json`);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^✗ login\.rate > 1000\/s: [\d.]+\/s\n$/)]);
  const { all, server, driver } = JSON.parse(stdout);
  expect(all).toMatchObject({ sent: 20, errors: 0 });
  expect(all.statuses["401"] + all.statuses["200"]).toBe(20);
  expect(driver.lateness.count).toBe(20);
  const figures = { lanes: number, lanesBusy: number, queueLength: number, capacityPerSecond: number };
  expect(server).toEqual({ kernel: expect.any(String), workers: 1, ...figures });
});

inFullRun(test)("registered users remain, and the printed command deletes them", async () => {
  const { code, stderr } = await run(
    `--url ${service.url} --scenario register --users 1 --rate 8 --duration 1 --json`,
  );
  expect(code).toBe(0);
  expect(await service.remainingUsers()).toBeGreaterThan(1);
  const [, command] = /^Users remain\. To delete them: (bun run admin .+)\n$/.exec(stderr) ?? [];
  const script = `${command?.replace("bun", `'${process.execPath}'`)} --yes`;
  const env = { PATH: process.env.PATH, DATABASE_URL: service.database };
  expect(Bun.spawnSync(["sh", "-c", script], { cwd: ROOT, env }).exitCode).toBe(0);
  expect(await service.remainingUsers()).toBe(0);
});

test("load is sent to another machine only after a confirmation", async () => {
  const line = "--url http://service.invalid";
  const asking = start(line);
  const stderr = "Cannot prompt without a terminal; pass --yes.\n";
  expect(await asking.ended()).toEqual({ code: 64, stdout: "", stderr });
  const terminal = startOnTerminal(line);
  await terminal.printed("Send load to http://service.invalid? [y/N] ");
  terminal.type("n\r");
  expect((await terminal.ended()).output).toContain("\r\nNo load was sent.\r\n");
  for (const confirmed of [`${line} --yes`, "--url http://[::1]:1", "--url http://localhost:1"]) {
    const { code, stderr } = await run(confirmed);
    expect([code, stderr]).toEqual([69, expect.stringContaining("/healthz is unreachable: ")]);
  }
});

inFullRun(test.concurrent).each(scenarioNames())("the scenario %s has no errors", async (scenario) => {
  const load = { kind: "open", ratePerSecond: 4, arrivals: "constant" } as const;
  const { all } = await runWithUsers({ asked: runOptionsOf({ url: service.url, scenario, load, users: 2 }) });
  expect(all).toMatchObject({ sent: 4, errors: 0 });
});

inFullRun(test)(
  "assertions are printed, in the files and decide the exit code, and the printed command repeats the run",
  async () => {
    const path = join(service.folder, "run");
    const load = "--users 3 --rate 8 --duration 1 --wrong 40 --seed 7 --timeout 30";
    const { code, stdout, stderr } = await run(
      `--url ${service.url} ${load} --assert errors<1%,login.rate>1000/s --report ${path}`,
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✓ errors < 1 %: 0 %\n✗ login\.rate > 1000\/s: [\d.]+\/s$/m);
    expect(stderr).toEndWith("1 of 2 assertions failed.\n");
    const first = await Bun.file(`${path}.json`).json();
    expect(first.assertions).toEqual([
      { assertion: "errors < 1 %", passed: true, measured: 0, result: "0 %" },
      { assertion: "login.rate > 1000/s", passed: false, measured: number, result: expect.any(String) },
    ]);
    expect(await Bun.file(`${path}.html`).text()).toContain("✗ login.rate &gt; 1000/s: ");

    const command = stdout.split("Repeat with:\n")[1]?.split("\n\n")[0] ?? "";
    // As pasted into a shell, in the repository.
    const shell = Bun.spawn(
      ["sh", "-c", `${command.replace("bun run", `'${process.execPath}' run`)} --json`],
      {
        cwd: ROOT,
        stderr: "ignore",
      },
    );
    const repeated = JSON.parse(await shell.stdout.text());
    expect(repeated.asked).toEqual(first.asked);
    expect(repeated.all.statuses).toEqual(first.all.statuses);
    expect(repeated.assertions).toHaveLength(2);
  },
);

test("rejections are errors, and a service that does not meet the offered rate is overloaded", async () => {
  let logins = 0;
  await using full = startFakeService({ logIn: () => (logins++ % 2 === 0 ? 200 : 503) });
  const load = "--users 1 --rate 4 --arrivals constant --duration 1s";
  const { code, stdout } = await run(`--url ${full.url} ${load}`);
  expect(code).toBe(0);
  expect(stdout).toStartWith("Overloaded: 2.0 of 4/s answered\n");
  expect(stdout).toMatch(/^login +200 × 2, 503 × 2; 2 unexpected$/m);
});

inFullRun(test)(
  "an interrupted capacity search reports its rates until then, and a plan uses its file",
  async () => {
    const path = join(service.folder, "capacity");
    // Beside other work, the first logins of all lanes together take more than a second.
    const options = `--duration 4s --users 2 --p99 9s --arrivals constant --report ${path}`;
    const child = startOnTerminal(
      `--url ${service.url} --metrics ${service.metrics} --find-capacity ${options}`,
    );
    await child.printed("; passed\r\n");
    child.type("\x03"); // Ctrl-C
    const { code, output } = await child.ended();
    expect(code).toBe(130);
    expect(output).toMatch(/^\d+ clients, .*\r\nrate /m);
    expect(output).toMatch(/^Interrupted: .*^This machine handles /ms);
    const report = await Bun.file(`${path}.json`).json();
    expect(report).toMatchObject({ outcome: "interrupted", cores: 1 });
    // A disturbed first attempt at the rate is repeated.
    expect(report.steps.at(-1)).toMatchObject({ passed: true });
    const plan = await run(`plan --capacity ${path}.json --logins-per-second 1000 --json`);
    expect(JSON.parse(plan.stdout).measured.loginsPerSecond).toBe(report.loginsPerSecond);
  },
);

test("a plan counts as many queries per login as the service sends", async () => {
  const user = { email: "ada@example.org", username: "ada", password: "correct horse battery" };
  await post(`${service.url}/auth/register`, user);
  const countQueries = async (): Promise<number> => {
    const text = await (await fetch(service.metrics)).text();
    const counts = text.matchAll(
      /^database_query_duration_seconds_count\{operation="users\.[^}]+\} (\d+)$/gm,
    );
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const logIn = () => post(`${service.url}/auth/login`, user);
  // The first login of a day also stores its time.
  await logIn();
  const before = await countQueries();
  expect((await logIn()).status).toBe(200);
  expect((await countQueries()) - before).toBe(QUERIES_PER_LOGIN);
});

test("a service that is rate limited, silent or another one, and other metrics, are reported in one sentence", async () => {
  await using limited = await startUnlimited({ RATE_LIMIT_ENABLED: "true" });
  const silence = () => new Promise<Response>(() => {});
  await using silent = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: silence });
  await using other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("hello") });
  for (const [options, sentence] of [
    [limited.url, / RATE_LIMIT_ENABLED=false\.\n$/],
    [`${silent.url.origin} --timeout 1`, /\/healthz is unreachable: no response within 1 s\.\n$/],
    [other.url.origin, / is not a Latchkey service: /],
    [`${service.url} --metrics ${other.url.origin}`, /\/metrics does not return metrics of a hashing core: /],
  ] as const) {
    const { code, stdout, stderr } = await run(`--url ${options} --duration 1`);
    expect({ code, stdout }).toEqual({ code: 69, stdout: "" });
    expect(stderr).toMatch(sentence);
    expect(stderr.trimEnd()).not.toContain("\n");
  }
});

test.each([
  ["--url localhost:3000", "--url must be"],
  ["--url http://x/docs", "--url must be an http or https URL without a path"],
  ["--url http://x --users 0", "--users must be"],
  ["--url http://x --duration 11m", "--duration must be whole seconds from 1 to 600"],
  ["--url http://x --scenario chaos", "--scenario must be"],
  ["--url http://x --unknown 60 --wrong 50", "--unknown and --wrong must not"],
  ["--url http://x --report /no/such/folder/x", "--report /no/such/folder/x must be in an existing folder"],
  ["--url http://x --assert quickly", '--assert "quickly"'],
  ["--url http://x --find-capacity --p99 soon", "--p99 must be"],
  ["--url http://x --find-capacity --rate 9", "Option '--find-capacity' cannot be used"],
  ["--url http://x --find-capacity --scenario read", "--find-capacity requires --scenario login"],
  ["http://x", "Too many arguments"],
])("the arguments %j are rejected in one sentence", async (args, problem) => {
  const { code, stdout, stderr } = await run(args);
  expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
  expect(stderr).toStartWith(problem);
  expect(stderr.trimEnd()).not.toContain("\n");
});

test("--help describes every exit code, and the process exits with that of the program", async () => {
  const { code, stdout } = await run("--help");
  expect(code).toBe(0);
  for (const exitCode of [0, 1, 64, 69, 130]) expect(stdout).toMatch(new RegExp(`^  ${exitCode} +\\w`, "m"));
  expect(await start("--nothing").exited).toBe(64);
});
