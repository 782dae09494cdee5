/** The load test as an operator runs it: through the shell, against a service in a process of its own. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openDataFolder, startProcess } from "../../gateway/test/process.ts";

async function run(...args: string[]) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../src/main.ts"), ...args], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}

async function startUnlimited(env: Record<string, string> = {}) {
  const folder = await openDataFolder();
  const service = startProcess({ DATABASE_URL: folder.url, RATE_LIMIT_ENABLED: "false", ...env });
  return {
    url: await service.ready(),
    lines: service.lines,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

test("it logs in with accounts of its own and reports logins, statuses and probes as JSON", async () => {
  await using service = await startUnlimited();
  const args = ["--url", service.url, "--concurrency", "4", "--duration", "1", "--users", "3", "--json"];
  const { code, stdout, stderr } = await run(...args);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  const report = JSON.parse(stdout);
  const latency = {
    p50: expect.any(Number),
    p95: expect.any(Number),
    p99: expect.any(Number),
    max: expect.any(Number),
  };
  expect(report).toEqual({
    url: service.url,
    scenario: "login",
    concurrency: 4,
    durationSeconds: 1,
    users: 3,
    logins: { perSecond: expect.any(Number), statuses: { "200": expect.any(Number) }, latency },
    probe: { count: expect.any(Number), latency, failure: null },
  });
  expect(report.logins.perSecond).toBe(report.logins.statuses["200"]);
  expect(report.probe.count).toBeGreaterThan(20);
  const { p50, p95, p99, max } = report.logins.latency;
  expect([p50, p95, p99, max]).toEqual([p50, p95, p99, max].toSorted((a, b) => a - b));
});

test("it reports to people, and a second run finds the accounts of the first", async () => {
  await using service = await startUnlimited();
  const args = ["--url", `${service.url}/`, "--concurrency", "2", "--duration", "1", "--users", "2"];
  expect((await run(...args)).code).toBe(0);
  const { code, stdout } = await run(...args);
  expect(code).toBe(0);
  expect(stdout).toContain(`${service.url}: 2 clients, 2 accounts, 1 s`);
  expect(stdout).toMatch(/^logins {3}[\d.]+\/s; p50 [\d.]+ ms, p95 [\d.]+ ms, p99 [\d.]+ ms/m);
  expect(stdout).toMatch(/^answers {2}200 × \d+$/m);
  expect(stdout).toMatch(/^\/healthz every 5 ms: \d+ answers; p50 [\d.]+ ms/m);
});

test("refusals are counted by their status and never as logins", async () => {
  await using service = await startUnlimited({ HASH_QUEUE_LIMIT: "0", HASH_KERNEL: "portable" });
  const args = ["--url", service.url, "--concurrency", "8", "--duration", "1", "--users", "1", "--json"];
  const { logins } = JSON.parse((await run(...args)).stdout);
  expect(logins.statuses["503"]).toBeGreaterThan(0);
  expect(logins.perSecond).toBe(logins.statuses["200"] ?? 0);
});

test("a service with its limits on is not measured; the sentence names the variable", async () => {
  await using service = await startUnlimited({ RATE_LIMIT_ENABLED: "true" });
  const { code, stdout, stderr } = await run("--url", service.url, "--duration", "1");
  expect(code).toBe(69);
  expect(stdout).toBe("");
  expect(stderr).toMatch(/^[^\n]+ RATE_LIMIT_ENABLED=false [^\n]+\n$/);
});

test("a URL where nothing listens is one sentence", async () => {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  const { code, stderr } = await run("--url", `http://127.0.0.1:${port}`);
  expect(code).toBe(69);
  expect(stderr).toMatch(new RegExp(`^http://127.0.0.1:${port} cannot be reached: [^\\n]+\\n$`));
});

test("a URL where something else answers is one sentence", async () => {
  await using other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("hello") });
  const { code, stderr } = await run("--url", other.url.origin);
  expect(code).toBe(69);
  expect(stderr).toMatch(/^[^\n]+ is no Latchkey service: [^\n]+\n$/);
});

test.each([
  [[], "--url is missing"],
  [["--url", "localhost:3000"], "--url must be"],
  [["--url", "ftp://x"], "--url must be"],
  [["--url", "http://x", "--users", "0"], "--users must be"],
  [["--url", "http://x", "--duration", "1.5"], "--duration must be"],
  [["--url", "http://x", "--concurrency", "1001"], "--concurrency must be"],
  [["--url", "http://x", "--scenario", "chaos"], "--scenario must be"],
  [["--url", "http://x", "--verbose"], "Unknown option"],
  [["http://x"], "Unexpected argument"],
])("the arguments %p are refused in one sentence", async (args, problem) => {
  const { code, stdout, stderr } = await run(...args);
  expect(code).toBe(64);
  expect(stdout).toBe("");
  expect(stderr).toStartWith(problem);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
});

test("--help explains every option and exit code", async () => {
  const { code, stdout } = await run("--help");
  expect(code).toBe(0);
  for (const name of [
    "--url",
    "--scenario",
    "--concurrency",
    "--duration",
    "--users",
    "--json",
    "64",
    "69",
  ]) {
    expect(stdout).toContain(name);
  }
});
