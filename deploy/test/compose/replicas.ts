/** The balancer with its deployed configuration, in front of real gateways that share one database. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@latchkey/testing/free-port";
import { ROOT } from "@latchkey/testing/repository";
import type { Subprocess } from "bun";
import { SECRET } from "../configuration.ts";

export interface Replicas extends AsyncDisposable {
  /** The balancer's port of 127.0.0.1 and of ::1. */
  readonly port: number;
  readonly gateways: readonly Subprocess[];
}

export interface ReplicasOptions {
  /** @default 2 */
  readonly count?: number;
  /** How many requests the balancer sends to a replica at once. @default any number */
  readonly maxConnections?: number;
}

export async function startReplicas(haproxy: string, options: ReplicasOptions = {}): Promise<Replicas> {
  const { count = 2, maxConnections = 0 } = options;
  const folder = await mkdtemp(join(tmpdir(), "latchkey-balancer-"));
  const started: Subprocess[] = [];
  const dispose = async () => {
    for (const child of started) child.kill("SIGKILL");
    await Promise.all(started.map(({ exited }) => exited));
    await rm(folder, { recursive: true });
  };
  try {
    const gateways = Array.from({ length: count }, () => {
      const gateway = Bun.spawn([process.execPath, join(ROOT, "apps/gateway/src/main.ts")], {
        env: gatewayEnvironment(folder),
        stdout: "pipe",
        stderr: "inherit",
      });
      started.push(gateway);
      return gateway;
    });
    const ports = await Promise.all(gateways.map(({ stdout }) => readPort(stdout)));
    const port = await freePort();
    const configuration = join(folder, "haproxy.cfg");
    await Bun.write(configuration, await localConfiguration({ port, replicas: ports, maxConnections }));
    const balancer = Bun.spawn([haproxy, "-db", "-f", configuration], { stdout: "ignore", stderr: "ignore" });
    started.push(balancer);
    await untilListening(port, balancer);
    return { port, gateways, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

const gatewayEnvironment = (folder: string) => ({
  PATH: process.env.PATH ?? "",
  NODE_ENV: "production",
  AUTH_SECRET_KEY: SECRET,
  DATABASE_URL: `file:${folder}/latchkey.db`,
  PORT: "0",
  TRUST_PROXY: "1",
});

/** The port in the line that says where the service listens; what follows is read and forgotten. */
async function readPort(log: ReadableStream<Uint8Array>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const read = async () => {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of log) {
      if (text.length < 100_000) text += decoder.decode(chunk, { stream: true });
      const [, port] = /"url":"http:\/\/[^"]*:(\d+)"/.exec(text) ?? [];
      if (port !== undefined) resolve(Number(port));
    }
    reject(new Error(`The gateway ended before it listened: ${text}`));
  };
  void read();
  return promise;
}

interface LocalConfiguration {
  readonly port: number;
  readonly replicas: readonly number[];
  /** 0: no limit. */
  readonly maxConnections: number;
}

/** Two lines differ from what is deployed: where the balancer listens, and replicas by address instead of by name. */
async function localConfiguration({ port, replicas, maxConnections }: LocalConfiguration): Promise<string> {
  const deployed = await Bun.file(join(ROOT, "deploy/haproxy/haproxy.cfg")).text();
  const servers = replicas.map(
    (replica, index) => `    server gateway-${index + 1} 127.0.0.1:${replica} maxconn ${maxConnections}`,
  );
  return deployed
    .replace("bind :8080", `bind 127.0.0.1:${port},[::1]:${port}`)
    .replace(" resolvers docker resolve-prefer ipv4 init-addr none", "")
    .replace(/^ {4}server-template .*$/m, servers.join("\n"));
}

async function untilListening(port: number, balancer: Subprocess): Promise<void> {
  while (balancer.exitCode === null) {
    const answered = await fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answered) return;
  }
  throw new Error(`HAProxy ended with ${balancer.exitCode}.`);
}
