/** Connections that fail during the load, on real sockets between the load tester and a service. */
import { expect, test } from "bun:test";
import { startFakeService } from "../support/fake-service.ts";
import { FAULTS, startFaultyProxy } from "../support/faulty-proxy.ts";
import { run } from "../support/program.ts";
import { LIMITS, runOptionsOf, runWithUsers } from "../support/run-options.ts";

test.concurrent.each(FAULTS)(
  "connections that are %s are counted by name, without a status",
  async (fault) => {
    await using service = startFakeService();
    using proxy = await startFaultyProxy(service.url, fault);
    const load = { kind: "open", ratePerSecond: 10, arrivals: "constant" } as const;
    const asked = runOptionsOf({ url: proxy.url, load });
    const timeoutSeconds = fault === "timed out" ? 1 : LIMITS.timeoutSeconds;
    const { all, overloaded } = await runWithUsers({ asked, warmUpSeconds: 0.2, timeoutSeconds });
    const counts = { sent: 10, statuses: { none: 10 }, connectionErrors: { [fault]: 10 }, errors: 10 };
    expect(all).toEqual({ ...counts, perSecond: 0, latency: null });
    expect(overloaded).toBe(true);
  },
);

test("without any response the exit code is 69, and the report has the errors instead of a status", async () => {
  await using service = startFakeService();
  using proxy = await startFaultyProxy(service.url, "refused");
  const load = "--users 1 --rate 10 --arrivals constant --duration 1s";
  const { code, stdout, stderr } = await run(`--url ${proxy.url} ${load}`);
  expect(code).toBe(69);
  expect(stderr).toEndWith("No request was answered: refused × 10.\n");
  expect(stdout).toMatch(/^login +refused × 10; 10 unexpected$/m);
  expect(stdout).not.toContain("Overloaded");
});
