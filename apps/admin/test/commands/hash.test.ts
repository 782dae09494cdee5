/** `hash bench` and `secret generate`, which do not use a database. */
import { describe, expect, test } from "bun:test";
import { runTool } from "../support/tool.ts";

describe("secret generate", () => {
  test("prints a new key that is long enough for HS512, and nothing else", async () => {
    const [first, second] = await Promise.all([
      runTool(["secret", "generate"]),
      runTool(["secret", "generate"]),
    ]);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(/^[A-Za-z0-9_-]{86}\n$/);
    expect(second.stdout).not.toBe(first.stdout);
  });

  test("prints JSON", async () => {
    const { stdout } = await runTool(["secret", "generate", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ secret: expect.stringMatching(/^[A-Za-z0-9_-]{86}$/) });
  });
});

describe("hash bench", () => {
  const env = { HASH_WORKERS: "1", HASH_KERNEL: "portable" };

  test("prints the capacity in one sentence", async () => {
    const { code, stdout, stderr } = await runTool(["hash", "bench", "--seconds", "1"], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^This machine verifies \d+\.\d logins per second \(.+\) with the portable kernel in 1 worker of 1 lane\.\n$/,
    );
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
    });
    // A derivation takes tens of milliseconds on current machines, and less than ten seconds on any machine.
    expect(capacity.derivations_per_second).toBeGreaterThan(0.1);
    expect(capacity.derivations_per_second).toBeLessThan(200);
  });
});
