/** The load tester as an operator runs it, against a service in a separate process. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";
import { run, startOnTerminal } from "../support/program.ts";
import { startUnlimited } from "../support/unlimited-service.ts";

const latency = {
  count: expect.any(Number),
  mean: expect.any(Number),
  p50: expect.any(Number),
  p90: expect.any(Number),
  p95: expect.any(Number),
  p99: expect.any(Number),
  "p99.9": expect.any(Number),
  max: expect.any(Number),
  curve: expect.any(Array),
};

test("a run creates users, logs in and reports logins, statuses and probes as JSON", async () => {
  await using service = await startUnlimited();
  const args = ["--url", service.url, "--concurrency", "4", "--duration", "1", "--users", "3", "--json"];
  const { code, stdout, stderr } = await run(...args);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  const report = JSON.parse(stdout);
  const logins = {
    sent: expect.any(Number),
    statuses: { "200": expect.any(Number) },
    connectionErrors: {},
    errors: 0,
    perSecond: expect.any(Number),
    latency,
  };
  expect(report).toEqual({
    version: 1,
    startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    machine: expect.stringContaining("cores"),
    asked: {
      url: service.url,
      scenario: "login",
      load: { kind: "closed", concurrency: 4 },
      durationSeconds: 1,
      users: 3,
      unknownPercent: 0,
      wrongPercent: 0,
      seed: 1,
    },
    outcome: "complete",
    overloaded: false,
    countedSeconds: 1,
    all: logins,
    operations: { login: logins },
    seconds: [expect.objectContaining({ second: 0, errors: 0 })],
    probe: { latency, failure: null },
    driver: { cpuShare: expect.any(Number), lateness: null, bottleneck: null },
    server: null,
    command: expect.stringContaining(" --concurrency 4 --duration 1s "),
    assertions: [],
  });
  expect(report.all.perSecond).toBe(report.all.statuses["200"]);
  expect(report.probe.latency.count).toBeGreaterThan(20);
});

test("a run reports text, and a second run uses the users of the first", async () => {
  await using service = await startUnlimited();
  const args = ["--url", `${service.url}/`, "--concurrency", "2", "--duration", "1s", "--users", "2"];
  expect((await run(...args)).code).toBe(0);
  const { code, stdout } = await run(...args);
  expect(code).toBe(0);
  expect(stdout).toContain("2 clients");
  expect(stdout).toContain(service.url);
  expect(stdout).toMatch(/^login .* 200 × \d+$/m);
  expect(stdout).toMatch(/^probe .* responses of \/healthz$/m);
});

test("rejections are counted by status and as errors, never as logins", async () => {
  await using service = await startUnlimited({ HASH_QUEUE_LIMIT: "0", HASH_KERNEL: "portable" });
  const args = ["--url", service.url, "--concurrency", "8", "--duration", "1", "--users", "1", "--json"];
  const { all } = JSON.parse((await run(...args)).stdout);
  expect(all.statuses["503"]).toBeGreaterThan(0);
  expect(all.errors).toBe(all.statuses["503"]);
  expect(all.perSecond).toBe(all.statuses["200"] ?? 0);
});

test("a rate is offered regardless of responses; wrong passwords and unknown addresses are not errors", async () => {
  await using service = await startUnlimited({ METRICS_PORT: "0" });
  const args = [
    "--url",
    service.url,
    "--rate",
    "10",
    "--arrivals",
    "constant",
    "--duration",
    "2",
    "--users",
    "2",
  ];
  const { stdout } = await run(
    ...args,
    "--wrong",
    "30",
    "--unknown",
    "30",
    "--metrics",
    service.metrics,
    "--json",
  );
  const { all, server, driver } = JSON.parse(stdout);
  expect(all.sent).toBe(20);
  expect(all.errors).toBe(0);
  expect(all.statuses["401"] + all.statuses["200"]).toBe(20);
  expect(driver.lateness.count).toBe(20);
  expect(server).toMatchObject({ workers: 1, capacityPerSecond: expect.any(Number) });
});

test.each(["read", "mixed", "register"])("the scenario %s has no errors", async (scenario) => {
  await using service = await startUnlimited();
  const args = [
    "--url",
    service.url,
    "--scenario",
    scenario,
    "--rate",
    "20",
    "--duration",
    "1",
    "--users",
    "2",
  ];
  const { code, stdout } = await run(...args, "--json");
  expect(code).toBe(0);
  const { all } = JSON.parse(stdout);
  expect(all.sent).toBeGreaterThan(0);
  expect(all.errors).toBe(0);
});

test("users created in the service's database can log in", async () => {
  await using service = await startUnlimited();
  // An open loop counts each response; in a closed one of one second, a slow machine may complete no login.
  const load = ["--users", "4", "--rate", "5", "--duration", "1"];
  const { code, stdout, stderr } = await run(
    "--url",
    service.url,
    "--seed-database",
    service.database,
    ...load,
    "--json",
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout).all.errors).toBe(0);
});

test("assertions are printed with their results, and are part of the JSON and of the JUnit XML", async () => {
  await using service = await startUnlimited();
  const path = join(service.folder, "run");
  const load = ["--url", service.url, "--users", "1", "--rate", "5", "--duration", "1s"];
  const passing = await run(...load, "--assert", "errors<1%");
  expect(passing.stdout).toContain("\n✓ errors < 1 %: 0 %\n");
  expect(passing.code).toBe(0);
  const files = ["--report", path, "--junit", `${path}.xml`];
  const { code, stdout, stderr } = await run(...load, ...files, "--assert", "errors<1%,login.rate>1000/s");
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✓ errors < 1 %: 0 %\n✗ login\.rate > 1000\/s: [\d.]+\/s$/m);
  expect(stderr).toEndWith("1 of 2 assertions failed.\n");
  const report = await Bun.file(`${path}.json`).json();
  expect(report.assertions).toEqual([
    { assertion: "errors < 1 %", passed: true, measured: 0, result: "0 %" },
    {
      assertion: "login.rate > 1000/s",
      passed: false,
      measured: expect.any(Number),
      result: expect.any(String),
    },
  ]);
  const junit = await Bun.file(`${path}.xml`).text();
  expect(junit).toContain('tests="2" failures="1"');
  expect(junit).toMatch(
    /name="login.rate &gt; 1000\/s" time="0">\s*<failure type="assertion" message="[\d.]+\/s"\/>/,
  );
  const json = await run(...load, "--json", "--assert", "login.rate>1000/s");
  expect(json.stderr).toMatch(/^✗ login\.rate > 1000\/s: [\d.]+\/s\n$/);
});

test("a service that does not meet the offered rate is reported as overloaded", async () => {
  await using service = await startUnlimited({ HASH_QUEUE_LIMIT: "0", HASH_KERNEL: "portable" });
  const load = ["--url", service.url, "--users", "1", "--rate", "80", "--duration", "2s"];
  const { code, stdout } = await run(...load);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Overloaded: \d+(\.\d)? of 80\/s answered\n/);
  for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test("the command of the report repeats the run with equal requests", async () => {
  await using service = await startUnlimited({ METRICS_PORT: "0" });
  const options = ["--rate", "20", "--duration", "1", "--users", "3", "--wrong", "40", "--seed", "7"];
  const extra = ["--timeout", "5", "--metrics", service.metrics, "--seed-database", service.database];
  const all = ["--url", service.url, ...options, ...extra, "--assert", "errors<1,login.rate>1"];
  const first = JSON.parse((await run(...all, "--json")).stdout);
  const { stdout } = await run(...all);
  const [, printed = ""] = stdout.split("Repeat with:\n");
  const [command = ""] = printed.split("\n\n");
  // As pasted into a shell, in the repository.
  const shell = Bun.spawn(["sh", "-c", `${command.replace("bun run", `'${process.execPath}' run`)} --json`], {
    cwd: ROOT,
    stderr: "ignore",
  });
  const repeated = JSON.parse(await new Response(shell.stdout).text());
  expect(repeated.command).toBe(first.command);
  expect(repeated.asked).toEqual(first.asked);
  expect(repeated.all.statuses).toEqual(first.all.statuses);
  expect(repeated.assertions.map(({ assertion }: { assertion: string }) => assertion)).toEqual([
    "errors < 1",
    "login.rate > 1/s",
  ]);
});

test("a capacity search shows its steps and the remaining time, and honours its options", async () => {
  await using service = await startUnlimited({
    METRICS_PORT: "0",
    HASH_KERNEL: "portable",
    HASH_QUEUE_LIMIT: "3",
  });
  const path = join(service.folder, "capacity");
  const options = [
    "--duration",
    "1s",
    "--users",
    "2",
    "--p99",
    "1s",
    "--arrivals",
    "constant",
    "--report",
    path,
  ];
  const search = ["--url", service.url, "--metrics", service.metrics, "--find-capacity", ...options];
  const child = startOnTerminal(...search);
  await child.printed("failed twice");
  child.pressCtrlC();
  const { code, output } = await child.ended;
  expect(code).toBe(130);
  expect(output).toMatch(/^\d+ steps expected, about \d+ s left\r\nstep 1 of about \d+: 1 client, /m);
  const step = String.raw`step \d+ of about \d+: rate [\d.]+/s, [\d.]+ of [\d.]+/s answered, p99 [\d,.]+ ms`;
  expect(output).toMatch(new RegExp(`^${step}, passed; about \\d+ s left\\r$`, "m"));
  expect(output).toMatch(
    new RegExp(`^${step}, failed, is repeated; about \\d+ s left\\r\\n${step}, failed twice`, "m"),
  );
  const [, text = ""] = output.split(/^(?=Capacity of logins)/m);
  expect(text).toContain("Interrupted: This machine handles ");
  const printed = text.split("\r\nReport: ")[0]?.split("\r\n") ?? [];
  for (const line of printed) expect(line.length).toBeLessThanOrEqual(80);
  const report = await Bun.file(`${path}.json`).json();
  expect(report.command).toContain("--find-capacity --p99 1000ms --arrivals constant --duration 1s");
  for (const { passed, attempts } of report.steps) expect(passed || attempts === 2).toBe(true);
}, 120_000);

test("a rate limited service is not measured; the message names the variable", async () => {
  await using service = await startUnlimited({ RATE_LIMIT_ENABLED: "true" });
  const { code, stdout, stderr } = await run("--url", service.url, "--duration", "1");
  expect(code).toBe(69);
  expect(stdout).toBe("");
  expect(stderr).toMatch(/^[^\n]+ RATE_LIMIT_ENABLED=false\.\n$/);
});

test("an unreachable service results in one sentence", async () => {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  const { code, stderr } = await run("--url", `http://127.0.0.1:${port}`);
  expect(code).toBe(69);
  expect(stderr).toMatch(new RegExp(`^http://127.0.0.1:${port}/healthz is unreachable: [^\\n]+\\n$`));
});

test("a URL of another service results in one sentence", async () => {
  await using other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("hello") });
  const { code, stderr } = await run("--url", other.url.origin);
  expect(code).toBe(69);
  expect(stderr).toMatch(/^[^\n]+ is not a Latchkey service: [^\n]+\n$/);
});

test.each([
  [[], "--url is required"],
  [["--url", "localhost:3000"], "--url must be"],
  [["--url", "ftp://x"], "--url must be"],
  [["--url", "http://x", "--users", "0"], "--users must be"],
  [["--url", "http://x", "--duration", "1.5"], "--duration must be"],
  [["--url", "http://x", "--concurrency", "1001"], "--concurrency must be"],
  [["--url", "http://x", "--scenario", "chaos"], "--scenario must be"],
  [["--url", "http://x", "--rate", "0"], "--rate must be"],
  [["--url", "http://x", "--rate", "9", "--arrivals", "late"], "--arrivals must be"],
  [["--url", "http://x", "--rate", "9", "--concurrency", "9"], "Option '--rate <number>' cannot be used"],
  [["--url", "http://x", "--unknown", "60", "--wrong", "50"], "--unknown and --wrong must not"],
  [["--url", "http://x", "--metrics", "9090"], "--metrics must be"],
  [
    ["--url", "http://x", "--report", "/no/such/folder/x"],
    "--report /no/such/folder/x must be in an existing folder",
  ],
  [["--url", "http://x", "--assert", "quickly"], '--assert "quickly"'],
  [["--url", "http://x", "--find-capacity", "--p99", "soon"], "--p99 must be"],
  [["--url", "http://x/docs"], "--url must be an http or https URL without a path"],
  [["--url", "http://x", "--duration", "11m"], "--duration must be whole seconds from 1 to 600"],
  [["--url", "http://x", "--timeout", "0s"], "--timeout must be whole seconds from 1 to 600"],
  [["--url", "http://x", "--junit", "x.xml"], "--junit requires --assert"],
  [
    ["--url", "http://x", "--assert", "errors<1", "--junit", "/no/such/folder/x"],
    "--junit /no/such/folder/x must be in an existing folder",
  ],
  [
    ["--url", "http://x", "--find-capacity", "--rate", "9"],
    "Option '--find-capacity' cannot be used with option '--rate <number>'",
  ],
  [
    ["--url", "http://x", "--find-capacity", "--concurrency", "9"],
    "Option '--find-capacity' cannot be used with option '--concurrency <count>'",
  ],
  [
    ["--url", "http://x", "--find-capacity", "--scenario", "read"],
    "--find-capacity requires --scenario login",
  ],
  [
    ["--url", "http://x", "--find-capacity", "--assert", "errors<1%"],
    "Option '--find-capacity' cannot be used with option '--assert <clauses>'",
  ],
  [["--url", "http://x", "--verbose"], "Unknown option"],
  [["http://x"], "Too many arguments"],
])("the arguments %p are rejected in one sentence", async (args, problem) => {
  const { code, stdout, stderr } = await run(...args);
  expect(code).toBe(64);
  expect(stdout).toBe("");
  expect(stderr).toStartWith(problem);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
});

test("--help describes every option and exit code", async () => {
  const { code, stdout } = await run("--help");
  expect(code).toBe(0);
  for (const name of [
    "--url",
    "--scenario",
    "--rate",
    "--concurrency",
    "--arrivals",
    "--duration",
    "--users",
    "--unknown",
    "--wrong",
    "--seed",
    "--timeout",
    "--seed-database",
    "--metrics",
    "--report",
    "--assert",
    "--junit",
    "--json",
    "--find-capacity",
    "--p99",
    "plan",
    "64",
    "69",
    "130",
  ]) {
    expect(stdout).toContain(name);
  }
});
