/** HAProxy accepts haproxy.cfg, and its ports, names and timings match docker-compose.yml. */
import { describe, expect, test } from "bun:test";
import { HAPROXY, HAPROXY_CONFIGURATION, haproxyTest } from "./balancer.ts";
import { readCompose } from "./compose-file.ts";

const text = await Bun.file(HAPROXY_CONFIGURATION).text();
const { services } = readCompose();

describe("haproxy.cfg", () => {
  haproxyTest("HAProxy accepts the file without a warning", () => {
    const check = Bun.spawnSync([HAPROXY, "-c", "-f", HAPROXY_CONFIGURATION]);
    expect(check.stderr.toString()).toBe("");
    expect(check.exitCode).toBe(0);
  });

  test("the balancer listens on the published port and resolves the replicas by their network name", () => {
    const [, containerPort] = /:(\d+)$/.exec(services.balancer?.ports?.[0] ?? "") ?? [];
    expect(text).toContain(`bind :${containerPort}`);
    expect(text).toMatch(/^ {4}server-template gateway- \d+ gateway:3000$/m);
    expect(services["gateway-embedded"]?.networks).toEqual({ front: { aliases: ["gateway"] } });
  });

  test("the balancer forwards the client address and checks readiness", () => {
    expect(text).toContain("option forwardfor");
    expect(text).toContain("uri /readyz");
  });

  test("the balancer detects an unready replica before that replica stops listening", () => {
    const seconds = (name: string) => Number(new RegExp(` ${name} (\\d+)s`).exec(text)?.[1]);
    const detectionSeconds = seconds("inter") * Number(/ fall (\d+)/.exec(text)?.[1]);
    expect(Number(services.gateway?.environment?.SHUTDOWN_DELAY_SECONDS)).toBeGreaterThan(detectionSeconds);
  });
});
