/** `hash bench`, which does not use a database. */
import { expect, test } from "bun:test";
import { runTool } from "../support/tool.ts";

const bench = (...args: string[]) =>
  runTool(["hash", "bench", "--seconds", "1", ...args], {
    env: { HASH_WORKERS: "1", HASH_KERNEL: "portable" },
  });

test("hash bench prints the capacity in one sentence, and warns if another process uses the machine", async () => {
  const busy = Bun.spawn([process.execPath, "-e", "console.log(); for (;;);"], { stdout: "pipe" });
  await busy.stdout.getReader().read();
  const { code, stdout, stderr } = await bench();
  busy.kill("SIGKILL");
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^This machine verifies \d+\.\d logins per second \(.+\) with the portable kernel in 1 worker of 1 lane\.\n$/,
  );
  expect(stderr).toMatch(/^Other processes used \d+\.\d cores meanwhile: stop them and measure again\.\n$/);
});

test("hash bench prints JSON", async () => {
  const capacity = JSON.parse((await bench("--json")).stdout);
  expect(capacity).toEqual({
    ...{ kernel: "portable", workers: 1, lanes: 1, fallback_reason: null },
    derivations_per_second: expect.any(Number),
    other_cores: expect.any(Number),
  });
  // A derivation takes tens of milliseconds on current machines, and less than ten seconds on any machine.
  expect(capacity.derivations_per_second).toBeWithin(0.1, 200);
});
