/** `hash bench`, which does not use a database. */
import { describe, expect, test } from "bun:test";
import { runTool } from "../support/tool.ts";

describe("hash bench", () => {
  const env = { HASH_WORKERS: "1", HASH_KERNEL: "portable" };

  test("prints the capacity in one sentence", async () => {
    const { code, stdout, stderr } = await runTool(["hash", "bench", "--seconds", "1"], { env });
    expect(code).toBe(0);
    // Other tests can run at the same time.
    expect(stderr).toMatch(/^(Other processes used .+\n)?$/);
    expect(stdout).toMatch(
      /^This machine verifies \d+\.\d logins per second \(.+\) with the portable kernel in 1 worker of 1 lane\.\n$/,
    );
  });

  test("warns if another process uses the machine", async () => {
    const busy = Bun.spawn([process.execPath, "-e", "console.log(); for (;;);"], { stdout: "pipe" });
    await busy.stdout.getReader().read();
    const { stderr } = await runTool(["hash", "bench", "--seconds", "1"], { env });
    busy.kill("SIGKILL");
    expect(stderr).toMatch(/^Other processes used \d+\.\d cores meanwhile: stop them and measure again\.\n$/);
  });

  test("prints JSON", async () => {
    const { stdout } = await runTool(["hash", "bench", "--seconds", "1", "--json"], { env });
    const capacity = JSON.parse(stdout);
    expect(capacity).toEqual({
      kernel: "portable",
      workers: 1,
      lanes: 1,
      derivations_per_second: expect.any(Number),
      fallback_reason: null,
      other_cores: expect.any(Number),
    });
    // A derivation takes tens of milliseconds on current machines, and less than ten seconds on any machine.
    expect(capacity.derivations_per_second).toBeGreaterThan(0.1);
    expect(capacity.derivations_per_second).toBeLessThan(200);
  });
});
