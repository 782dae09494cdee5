/** Connections that fail during the load, on real sockets between the load tester and a real service. */
import { expect, test } from "bun:test";
import { FAULTS, startFaultyProxy } from "../support/faulty-proxy.ts";
import { run } from "../support/program.ts";
import { startUnlimited } from "../support/unlimited-service.ts";

const LOAD = [
  "--users",
  "1",
  "--rate",
  "10",
  "--arrivals",
  "constant",
  "--duration",
  "1s",
  "--timeout",
  "1s",
];

test.each(FAULTS)(
  "connections that are %s are counted by name; without any answer the exit code is 69",
  async (fault) => {
    await using service = await startUnlimited();
    using proxy = await startFaultyProxy(service.url, fault);
    const { code, stdout, stderr } = await run("--url", proxy.url, ...LOAD, "--json");
    expect(stderr).toBe(`No request was answered: ${fault} × 10.\n`);
    expect(code).toBe(69);
    expect(JSON.parse(stdout).all).toEqual({
      sent: 10,
      statuses: { none: 10 },
      connectionErrors: { [fault]: 10 },
      errors: 10,
      perSecond: 0,
      latency: null,
    });
  },
);

test("a service that does not answer before the load is reported after the timeout", async () => {
  using silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const url = `http://127.0.0.1:${silent.port}`;
  const { code, stderr } = await run("--url", url, "--timeout", "1s");
  expect(code).toBe(69);
  expect(stderr).toBe(`${url}/healthz is unreachable: no response within 1 s.\n`);
});

test("connection errors appear in the text instead of a status", async () => {
  await using service = await startUnlimited();
  using proxy = await startFaultyProxy(service.url, "refused");
  const { stdout } = await run("--url", proxy.url, ...LOAD);
  expect(stdout).toMatch(/^login +refused × 10; 10 unexpected$/m);
  expect(stdout).not.toContain("Overloaded");
});
