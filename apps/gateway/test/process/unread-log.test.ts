/** A log that nobody reads: the service keeps running and stopping as usual, and counts the lines that are lost. */
import { expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { GATEWAY_MAIN } from "@latchkey/testing/repository";
import { freePort, untilOk } from "@latchkey/testing/server-process";
import { scrape } from "../support/exposition.ts";

/** The log is a pipe to `cat`, which can be suspended. */
async function start(format: string) {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(await openFolder());
  const [pipe, file] = [join(folder.path, "pipe"), join(folder.path, "log")];
  Bun.spawnSync(["mkfifo", pipe]);
  const reader = stack.use(Bun.spawn(["cat", pipe], { stdout: Bun.file(file), killSignal: "SIGKILL" }));
  const descriptor = openSync(pipe, "w");
  const [port, metricsPort] = [freePort(), freePort()];
  const child = stack.use(
    Bun.spawn([process.execPath, GATEWAY_MAIN], {
      env: {
        ...{ PORT: `${port}`, METRICS_PORT: `${metricsPort}`, DATABASE_URL: folder.databaseUrl },
        // A fast machine sends more requests than the default limit before the first line is dropped.
        ...{ LOG_FORMAT: format, HASH_WORKERS: "1", RATE_LIMIT_ENABLED: "false" },
      },
      stdout: descriptor,
      killSignal: "SIGKILL",
    }),
  );
  closeSync(descriptor);
  const url = `http://127.0.0.1:${port}`;
  await untilOk(`${url}/healthz`, child);
  return {
    child,
    reader,
    request: (path: string, id = "") =>
      fetch(url + path, { headers: { "x-request-id": id }, signal: AbortSignal.timeout(1500) }),
    droppedLines: async () => {
      const metrics = `http://127.0.0.1:${metricsPort}/metrics`;
      return (await scrape({ metrics })).value("log_lines_dropped_total") ?? 0;
    },
    readLog: () => Bun.file(file).text(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

type Running = Awaited<ReturnType<typeof start>>;

/** Sends requests until lines are dropped. Each request has an id of its own, and a response within 1.5 seconds. */
async function fillPipe({ request, droppedLines }: Running, prefix: string): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const id = `${prefix}-${ids.length}-${"x".repeat(80)}`;
    ids.push(id);
    expect((await request("/todos", id)).status).toBe(200);
    if (ids.length % 50 > 0) continue;
    expect((await request("/healthz")).status).toBe(200);
    if (ids.length >= 1000 && (await droppedLines()) > 0) return ids;
  }
}

/** The numbers that the log states. Lines of JSON are parsed, so a line that is partly written is detected. */
function reportedIn(log: string, format: string): number[] {
  const lines = log.trimEnd().split("\n");
  if (format === "json")
    return lines.map((line) => JSON.parse(line).dropped).filter((count) => count !== undefined);
  return lines.flatMap((line) => /WARN: (\d+) log lines were dropped/.exec(line)?.slice(1).map(Number) ?? []);
}

for (const [format, runner] of [
  ["json", test],
  ["pretty", inFullRun(test)],
] as const)
  runner(
    `while nobody reads the log in ${format}, requests are served, and the first line after that states how many lines were dropped`,
    async () => {
      await using service = await start(format);
      service.reader.kill("SIGSTOP");
      const ids = await fillPipe(service, "unread");
      service.reader.kill("SIGCONT");
      let log = "";
      while (reportedIn(log.slice(0, log.lastIndexOf("\n") + 1) || "{}", format).length === 0) {
        await Bun.sleep(10);
        log = await service.readLog();
      }
      await service.request("/todos", "read-again");
      while (!log.includes("read-again")) {
        await Bun.sleep(10);
        log = await service.readLog();
      }
      const written = ids.filter((id) => log.includes(id));
      expect(written.length).toBeGreaterThan(100);
      expect(written).toEqual(ids.slice(0, written.length));
      expect(reportedIn(log, format)).toEqual([ids.length - written.length]);
      expect(await service.droppedLines()).toBe(ids.length - written.length);
    },
  );

inFullRun(test)("while nobody reads the log, SIGTERM ends the service within its grace period", async () => {
  await using service = await start("json");
  service.reader.kill("SIGSTOP");
  await fillPipe(service, "unread");
  const startedAt = performance.now();
  service.child.kill("SIGTERM");
  expect(await service.child.exited).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

inFullRun(test)("lines wait for a reader that pauses for less than a second", async () => {
  await using service = await start("json");
  service.reader.kill("SIGSTOP");
  const ids = Array.from({ length: 400 }, (_, index) => `paused-${index}-${"x".repeat(80)}`);
  await Promise.all(ids.map((id) => service.request("/todos", id)));
  service.reader.kill("SIGCONT");
  service.child.kill("SIGTERM");
  expect(await service.child.exited).toBe(0);
  expect(await service.reader.exited).toBe(0);
  const log = await service.readLog();
  expect(ids.filter((id) => !log.includes(id))).toEqual([]);
  expect(reportedIn(log, "json")).toEqual([]);
});
