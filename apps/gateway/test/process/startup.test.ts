/** The process from its start to its `ready` line. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { GATEWAY_MAIN } from "@latchkey/testing/repository";
import { freePort } from "@latchkey/testing/server-process";
import { startProcess } from "@latchkey/testing/service-process";
import { holdSqliteLock } from "@latchkey/testing/sqlite";
import { VERSION } from "../../src/version.ts";
import { scrape } from "../support/exposition.ts";

test("the ready line is the only line, describes the service, and its URLs work", async () => {
  await using folder = await openFolder();
  const env = { DATABASE_URL: folder.databaseUrl, METRICS_PORT: "0", HASH_KERNEL: "portable" };
  await using service = startProcess(env, { main: GATEWAY_MAIN });
  const ready = await service.line("ready");
  expect(service.lines).toEqual([
    {
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
      msg: "ready",
      version: VERSION,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      docs: `${ready.url}/docs`,
      metrics: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/),
      database: "libsql",
      kernel: "portable",
      kernel_fallback: null,
      hash_workers: 1,
      hash_capacity_per_second: expect.any(Number),
      hash_queue_limit: expect.any(Number),
    },
  ]);
  expect(ready.hash_capacity_per_second).toBeGreaterThan(0);
  expect(ready.hash_queue_limit).toBeGreaterThanOrEqual(64);
  const urls = [`${ready.url}/healthz`, `${ready.url}/readyz`, String(ready.docs), String(ready.metrics)];
  for (const url of urls) expect((await fetch(url)).status).toBe(200);
});

inFullRun(test).each([
  ["0.0.0.0", "127.0.0.1"],
  ["[::1]", "[::1]"],
])("with HOST=%s, the printed URL can be opened", async (Host, host) => {
  await using folder = await openFolder();
  const env = { DATABASE_URL: folder.databaseUrl, HOST: Host, METRICS_HOST: Host, METRICS_PORT: "0" };
  await using service = startProcess(env);
  const { url, metrics } = await service.line("ready");
  for (const opened of [`${url}/healthz`, String(metrics)]) {
    expect(new URL(opened).hostname).toBe(host);
    expect((await fetch(opened)).status).toBe(200);
  }
});

test("with LOG_FORMAT=pretty the ready line contains the URL, and each request is one line", async () => {
  await using folder = await openFolder();
  const env = { PORT: "0", DATABASE_URL: folder.databaseUrl, LOG_FORMAT: "pretty" };
  const child = Bun.spawn([process.execPath, GATEWAY_MAIN], { env, stdout: "pipe" });
  let output = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    const hadUrl = /http:\S+\/docs/.test(output);
    output += chunk;
    const [, url] = /ready[\s\S]*(http:\/\/127\.0\.0\.1:\d+)\/docs/.exec(output) ?? [];
    if (url === undefined || hadUrl) continue;
    const path = `/${"%1B".repeat(30)}`;
    expect((await fetch(url + path, { headers: { "x-request-id": "mine" } })).status).toBe(404);
    child.kill();
  }
  expect(await child.exited).toBe(0);
  const lines = output.split("\n");
  expect(output).toContain("Press Ctrl-C to stop.\n");
  const line = lines.findIndex((text) => text.includes("GET"));
  expect(lines[line]).toMatch(
    /^\[[\d:.]+\] INFO: GET \/.{79}… 404 \d+\.\d ms address=127\.0\.0\.1 request_id=mine$/,
  );
  // The log line of a request can follow the one of the signal.
  expect(lines[line + 1]).toMatch(/^\[[\d:.]+\] INFO: (stopping|stopped)$/);
});

test("the port is closed until migrations are done", async () => {
  await using folder = await openFolder();
  const lock = await holdSqliteLock(folder.databaseUrl);
  const url = `http://127.0.0.1:${freePort()}`;
  await using service = startProcess({ PORT: new URL(url).port, DATABASE_URL: folder.databaseUrl });
  /** null while the port is closed. */
  const request = (path: string) => fetch(url + path).catch(() => null);
  const heldUntil = performance.now() + 1000;
  while (performance.now() < heldUntil) expect(await request("/healthz")).toBeNull();
  await lock[Symbol.asyncDispose]();
  await service.ready();
  expect((await request("/todos"))?.status).toBe(200);
});

test("without the native kernels of this processor, the start logs a warning with the reason, and a metric shows it", async () => {
  await using folder = await openFolder();
  const preload = `--preload=${join(import.meta.dir, "../support/without-addon.ts")}`;
  const env = { DATABASE_URL: folder.databaseUrl, METRICS_PORT: "0", BUN_OPTIONS: preload };
  await using service = startProcess(env, { main: GATEWAY_MAIN });
  const metrics = await scrape(await service.line("ready"));
  expect(service.lines).toContainEqual(
    expect.objectContaining({
      level: "warn",
      msg: expect.stringContaining("bun run build:native"),
      kernel_fallback: expect.stringContaining("not built"),
    }),
  );
  expect(metrics.value("hash_kernel_info", { kernel: "portable", fallback: "1" })).toBe(1);
});
