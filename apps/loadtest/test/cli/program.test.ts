/** The load tester as an operator runs it, against a service in a separate process. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { startProcess } from "@latchkey/testing/service-process";
import { startFakeService } from "../support/fake-service.ts";
import { run, start } from "../support/program.ts";

async function startUnlimited(env: Record<string, string> = {}) {
  const folder = await openFolder();
  const service = startProcess({ DATABASE_URL: folder.databaseUrl, RATE_LIMIT_ENABLED: "false", ...env });
  return {
    url: await service.ready(),
    lines: service.lines,
    database: folder.databaseUrl,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const latency = {
  count: expect.any(Number),
  mean: expect.any(Number),
  p50: expect.any(Number),
  p95: expect.any(Number),
  p99: expect.any(Number),
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
    countedSeconds: 1,
    all: logins,
    operations: { login: logins },
    seconds: [expect.objectContaining({ second: 0, errors: 0 })],
    probe: { latency, failure: null },
    driver: { cpuShare: expect.any(Number), lateness: null, bottleneck: null },
    server: null,
  });
  expect(report.all.perSecond).toBe(report.all.statuses["200"]);
  expect(report.probe.latency.count).toBeGreaterThan(20);
});

test("a run reports text, and a second run uses the users of the first", async () => {
  await using service = await startUnlimited();
  const args = ["--url", `${service.url}/`, "--concurrency", "2", "--duration", "1", "--users", "2"];
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
  const metrics = String(service.lines.find(({ msg }) => msg === "ready")?.metrics);
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
  const { stdout } = await run(...args, "--wrong", "30", "--unknown", "30", "--metrics", metrics, "--json");
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
  const args = ["--url", service.url, "--seed-database", service.database, "--users", "4", "--duration", "1"];
  const { code, stdout } = await run(...args, "--json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout).all.errors).toBe(0);
});

test("a failed assertion is reported with exit code 1", async () => {
  await using service = startFakeService();
  const args = ["--url", service.url, "--users", "1", "--rate", "20", "--duration", "1"];
  expect((await run(...args, "--assert", "errors<1%")).code).toBe(0);
  const { code, stdout, stderr } = await run(...args, "--assert", "errors<1%,login.rate>1000/s");
  expect(code).toBe(1);
  expect(stdout).toContain("login");
  expect(stderr).toMatch(/^login\.rate was [^\n]+\n$/);
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s ends the run, and the results until then are reported",
  async (name) => {
    const folder = await mkdtemp(join(tmpdir(), "latchkey-report-"));
    try {
      let logins = 0;
      const isRunning = Promise.withResolvers<void>();
      await using service = startFakeService({
        logIn() {
          // At 40 per second, after the warm-up.
          if (++logins === 60) isRunning.resolve();
          return 200;
        },
      });
      const path = join(folder, "run");
      const args = [
        "--url",
        service.url,
        "--users",
        "1",
        "--rate",
        "40",
        "--arrivals",
        "constant",
        "--duration",
        "60",
      ];
      const child = start(...args, "--report", path);
      await isRunning.promise;
      child.signal(name);
      const { code, stdout, stderr } = await child.ended;
      expect(code).toBe(130);
      expect(stdout).toContain("Interrupted after ");
      expect(stderr).toBe(`Report: ${path}.html and ${path}.json\n`);
      const report = await Bun.file(`${path}.json`).json();
      expect(report.outcome).toBe("interrupted");
      expect(report.countedSeconds).toBeLessThan(60);
      expect(report.all.statuses["200"]).toBeGreaterThanOrEqual(15);
      expect(report.seconds.at(-1).offered).toBeGreaterThan(0);
      expect(await Bun.file(`${path}.html`).text()).toStartWith("<!doctype html>");
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

test("an interruption while users are created reports no results", async () => {
  const requested = Promise.withResolvers<void>();
  const never = new Promise<void>(() => {});
  await using service = startFakeService({
    beforeResponse(path) {
      if (path !== "/auth/register") return;
      requested.resolve();
      return never;
    },
  });
  const child = start("--url", service.url);
  await requested.promise;
  child.signal("SIGINT");
  expect(await child.ended).toEqual({
    code: 130,
    stdout: "",
    stderr: "Interrupted before the measurement began.\n",
  });
});

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
  [["--url", "http://x", "--find-capacity", "--rate", "9"], "--find-capacity cannot be combined with --rate"],
  [
    ["--url", "http://x", "--find-capacity", "--scenario", "read"],
    "--find-capacity requires --scenario login",
  ],
  [
    ["--url", "http://x", "--find-capacity", "--assert", "errors<1%"],
    "--find-capacity cannot be combined with --assert",
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
