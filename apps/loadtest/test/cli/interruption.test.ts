/** Ctrl-C and SIGTERM end a run and keep its results; a second signal forces an exit. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { start, startOnTerminal } from "../support/program.ts";
import { startUnlimited } from "../support/unlimited-service.ts";

const LOAD = ["--users", "1", "--rate", "5", "--arrivals", "constant", "--duration", "60s"];
/** One of the preparation, five of the warm-up, and at least one that is measured. */
const MEASURED = 8;

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s ends the run, and the results until then are reported and written to the files",
  async (name) => {
    await using service = await startUnlimited();
    const path = join(service.folder, "run");
    const files = ["--report", path, "--assert", "errors<1", "--junit", `${path}.xml`];
    const child = start("--url", service.url, ...LOAD, ...files);
    await service.completed(MEASURED);
    child.signal(name);
    // `bun run` delivers Ctrl-C twice; the kernel would merge two signals at once.
    await Bun.sleep(5);
    child.signal(name);
    const { code, stdout, stderr } = await child.ended;
    expect(code).toBe(130);
    expect(stdout).toStartWith("Interrupted after ");
    expect(stdout).toContain("✓ errors < 1: 0");
    expect(stderr).toBe(`Report: ${path}.html and ${path}.json\nJUnit: ${path}.xml\n`);
    const report = await Bun.file(`${path}.json`).json();
    expect(report.outcome).toBe("interrupted");
    expect(report.countedSeconds).toBeLessThan(60);
    expect(report.all.statuses["200"]).toBeGreaterThanOrEqual(1);
    expect(report.seconds.at(-1).offered).toBeGreaterThan(0);
    expect(await Bun.file(`${path}.html`).text()).toStartWith("<!doctype html>");
    expect(await Bun.file(`${path}.xml`).text()).toContain("<testcase ");
  },
);

test("Ctrl-C on a terminal under bun run prints the report, writes the files and shows the cursor", async () => {
  await using service = await startUnlimited();
  const path = join(service.folder, "run");
  const child = startOnTerminal("--url", service.url, ...LOAD, "--report", path);
  await service.completed(MEASURED);
  child.pressCtrlC();
  const { code, output } = await child.ended;
  expect(code).toBe(130);
  const [, report = ""] = output.split("\x1b[?25h");
  expect(report).toStartWith("Interrupted after ");
  expect(report).toMatch(/^login +200 × \d+\r$/m);
  expect((await Bun.file(`${path}.json`).json()).outcome).toBe("interrupted");
});

test("the files are written although Ctrl-C also ended the reader of standard output", async () => {
  await using service = await startUnlimited();
  const path = join(service.folder, "run");
  const main = join(import.meta.dir, "../../src/main.ts");
  const child = Bun.spawn([process.execPath, main, "--url", service.url, ...LOAD, "--report", path], {
    stdout: "pipe",
    stderr: "ignore",
  });
  await service.completed(MEASURED);
  await child.stdout.cancel();
  child.kill("SIGINT");
  await child.exited;
  expect((await Bun.file(`${path}.json`).json()).outcome).toBe("interrupted");
});

test("a second signal after half a second exits at once, one before does not", async () => {
  await using service = await startUnlimited();
  // Accepts connections and never answers: the program waits for it after the first signal.
  const connected = Promise.withResolvers<void>();
  using database = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { open: () => connected.resolve(), data() {} },
  });
  const url = `postgres://latchkey@127.0.0.1:${database.port}/latchkey`;
  const child = start("--url", service.url, "--seed-database", url);
  await connected.promise;
  child.signal("SIGINT");
  await Bun.sleep(100);
  child.signal("SIGINT");
  const early = await Promise.race([child.ended, Bun.sleep(800)]);
  expect(early).toBeUndefined();
  child.signal("SIGINT");
  expect(await child.ended).toEqual({ code: 130, stdout: "", stderr: "" });
});

test("an interruption while users are created reports no results", async () => {
  const requested = Promise.withResolvers<void>();
  const never = new Promise<Response>(() => {});
  await using service = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      if (request.url.endsWith("/healthz")) return Response.json({ status: "ok" });
      requested.resolve();
      return never;
    },
  });
  const child = start("--url", service.url.origin);
  await requested.promise;
  child.signal("SIGINT");
  const stderr = "Interrupted before the measurement began.\n";
  expect(await child.ended).toEqual({ code: 130, stdout: "", stderr });
});

test("an interrupted capacity search reports and writes what was measured", async () => {
  await using service = await startUnlimited({ HASH_KERNEL: "portable", METRICS_PORT: "0" });
  const path = join(service.folder, "capacity");
  const options = ["--url", service.url, "--metrics", service.metrics, "--users", "1", "--duration", "1s"];
  const child = startOnTerminal(...options, "--find-capacity", "--report", path);
  await child.printed("step 1 of about ");
  child.pressCtrlC();
  const { code, output } = await child.ended;
  expect(code).toBe(130);
  expect(output).toMatch(
    /\d+ steps expected, about (\d+ min )?\d+ s left\r\nstep 1 of about \d+: 1 client, /,
  );
  expect(output).toContain("Interrupted before the first rate was complete.");
  const report = await Bun.file(`${path}.json`).json();
  expect(report.curve).toHaveLength(1);
  expect(report.steps).toEqual([]);
});
