/** The balancer's configuration: accepted by HAProxy itself, and in step with what the gateway expects of it. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";
import { SECRET } from "../configuration.ts";
import { readCompose } from "./file.ts";

const path = join(ROOT, "deploy/haproxy/haproxy.cfg");
const text = await Bun.file(path).text();
const { services } = readCompose({ AUTH_SECRET_KEY: SECRET, POSTGRES_PASSWORD: SECRET });

const haproxy = Bun.which("haproxy", { PATH: `${process.env.PATH}:/usr/sbin` });
const canCheck = haproxy !== null || process.env.CI !== undefined;
if (!canCheck)
  process.stderr.write("The balancer's configuration is not checked: haproxy is not installed.\n");

describe("haproxy.cfg", () => {
  test.skipIf(!canCheck)("is accepted by HAProxy without a warning", () => {
    const check = Bun.spawnSync([haproxy ?? "haproxy", "-c", "-f", path]);
    expect(check.stderr.toString()).toBe("");
    expect(check.exitCode).toBe(0);
  });

  test("listens where the published port leads, and finds the replicas by a name they have", () => {
    const [, inside] = /:(\d+)$/.exec(services.balancer?.ports?.[0] ?? "") ?? [];
    expect(text).toContain(`bind :${inside}`);
    expect(text).toMatch(/^ {4}server-template gateway- \d+ gateway:3000$/m);
    expect(services["gateway-embedded"]?.networks).toEqual({ front: { aliases: ["gateway"] } });
  });

  test("tells replicas the client's address and asks them whether they are ready", () => {
    expect(text).toContain("option forwardfor");
    expect(text).toContain("uri /readyz");
  });

  test("notices that a replica is not ready before that one stops listening", () => {
    const seconds = (name: string) => Number(new RegExp(` ${name} (\\d+)s`).exec(text)?.[1]);
    const noticedAfter = seconds("inter") * Number(/ fall (\d+)/.exec(text)?.[1]);
    expect(Number(services.gateway?.environment?.SHUTDOWN_DELAY_SECONDS)).toBeGreaterThan(noticedAfter);
  });
});
