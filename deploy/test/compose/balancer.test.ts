/** HAProxy accepts haproxy.cfg, and its ports, names and timings match docker-compose.yml. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";
import { SECRET } from "../configuration.ts";
import { readCompose } from "./compose-file.ts";

const path = join(ROOT, "deploy/haproxy/haproxy.cfg");
const text = await Bun.file(path).text();
const { services } = readCompose({ AUTH_SECRET_KEY: SECRET, POSTGRES_PASSWORD: SECRET });

const haproxy = Bun.which("haproxy", { PATH: `${process.env.PATH}:/usr/sbin` });
const canCheck = haproxy !== null || process.env.CI !== undefined;
if (!canCheck) process.stderr.write("haproxy is not installed: haproxy.cfg is not checked.\n");

describe("haproxy.cfg", () => {
  test.skipIf(!canCheck)("HAProxy accepts the file without a warning", () => {
    const check = Bun.spawnSync([haproxy ?? "haproxy", "-c", "-f", path]);
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
