/** Signals end a run and keep its results; a second signal forces an exit. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { inFullRun } from "@latchkey/testing/full-run";
import { readUntil } from "@latchkey/testing/server-process";
import { $ } from "bun";
import { startFakeService } from "../support/fake-service.ts";
import { start } from "../support/program.ts";
import { startUnlimited } from "../support/unlimited-service.ts";

const LOAD = "--users 1 --rate 5 --arrivals constant --duration 60s";
/** In the first line of progress. A service completes a login before the program has received it. */
const MEASURED = "; 200 × ";

let service: Awaited<ReturnType<typeof startUnlimited>>;
beforeAll(async () => {
  service = await startUnlimited();
});
afterAll(() => service[Symbol.asyncDispose]());

test("SIGTERM ends the run, and the results until then are reported and written to the files", async () => {
  const path = join(service.folder, "run");
  const child = start(`--url ${service.url} ${LOAD} --report ${path} --assert errors<1`);
  await readUntil(child.progress, MEASURED);
  child.signal("SIGTERM");
  // `bun run` delivers Ctrl-C twice; the kernel would merge two signals at once.
  await Bun.sleep(5);
  child.signal("SIGTERM");
  const { code, stdout, stderr } = await child.ended();
  expect(code).toBe(130);
  expect(stdout).toStartWith("Interrupted after ");
  expect(stdout).toContain("✓ errors < 1: 0");
  expect(stderr).toEndWith(["json", "html"].map((name) => `Written: ${path}.${name}\n`).join(""));
  const report = await Bun.file(`${path}.json`).json();
  expect(report.outcome).toBe("interrupted");
  expect(report.countedSeconds).toBeLessThan(60);
  expect(report.all.statuses["200"]).toBeGreaterThanOrEqual(1);
  const offered = report.seconds.map((second: { readonly offered: number }) => second.offered);
  expect(offered.reduce((sum: number, count: number) => sum + count)).toBe(report.all.sent);
  expect(await service.remainingUsers()).toBe(0);
  expect(await Bun.file(`${path}.html`).text()).toStartWith("<!doctype html>");
});

inFullRun(test.concurrent)(
  "the files are written although Ctrl-C also ended the reader of standard output",
  async () => {
    const path = join(service.folder, "piped");
    const child = start(`--url ${service.url} ${LOAD} --report ${path}`);
    await readUntil(child.progress, MEASURED);
    await child.stdout.cancel();
    child.signal("SIGINT");
    await child.exited;
    expect((await Bun.file(`${path}.json`).json()).outcome).toBe("interrupted");
  },
);

test.concurrent("a second signal after half a second exits at once, one before does not", async () => {
  const path = join(service.folder, "pipe");
  await $`mkfifo ${path}`;
  const child = start(`plan --capacity ${path} --logins-per-second 1`);
  // Resolves when the program reads the pipe, whose end it then waits for.
  await using _writer = await open(path, "w");
  child.signal("SIGINT");
  await Bun.sleep(100);
  child.signal("SIGINT");
  const early = await Promise.race([child.exited, Bun.sleep(800)]);
  expect(early).toBeUndefined();
  child.signal("SIGINT");
  expect(await child.ended()).toEqual({ code: 130, stdout: "", stderr: "" });
});

test.concurrent("an interruption while users are created reports no results, and how to delete users that might exist", async () => {
  const requested = Promise.withResolvers<void>();
  await using silent = startFakeService({
    async beforeResponse(path) {
      if (path === "/healthz") return;
      requested.resolve();
      await new Promise(() => {});
    },
  });
  const child = start(`--url ${silent.url}`);
  await requested.promise;
  child.signal("SIGINT");
  const { code, stdout, stderr } = await child.ended();
  expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
  expect(stderr).toMatch(
    /^Users remain\. .+ --domain \w{8}\.loadtest\.invalid\nInterrupted before the measurement began\.\n$/,
  );
});
