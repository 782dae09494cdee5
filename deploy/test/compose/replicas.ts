/** HAProxy with its deployed configuration in front of real gateways that share one database. */
import { test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { freePort } from "@latchkey/testing/free-port";
import { ROOT } from "@latchkey/testing/repository";
import { type ServiceProcess, startProcess } from "@latchkey/testing/service-process";
import { SECRET } from "../configuration.ts";

export const HAPROXY_CONFIGURATION = join(ROOT, "deploy/haproxy/haproxy.cfg");

const installed = Bun.which("haproxy", { PATH: `${process.env.PATH}:/usr/sbin` });
if (installed === null) process.stderr.write("haproxy is not installed: the balancer is not tested.\n");

/** The program's path, for tests that run with {@link haproxyTest}. */
export const HAPROXY = installed ?? "haproxy";

/** A `test` that is skipped without HAProxy, except in CI, where it fails. */
export const haproxyTest = test.skipIf(installed === null && !process.env.CI);

export interface Replicas extends AsyncDisposable {
  /** The port of the balancer on 127.0.0.1 and ::1. */
  readonly port: number;
  readonly gateways: readonly ServiceProcess[];
}

export interface ReplicasOptions {
  /** Number of gateways. @default 2 */
  readonly count?: number;
  /** Concurrent connections from the balancer to one replica; 0 means no limit. @default 0 */
  readonly maxConnections?: number;
}

export async function startReplicas({
  count = 2,
  maxConnections = 0,
}: ReplicasOptions = {}): Promise<Replicas> {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await openFolder());
  const gateways = Array.from({ length: count }, () =>
    resources.use(
      startProcess({
        NODE_ENV: "production",
        AUTH_SECRET_KEY: SECRET,
        DATABASE_URL: folder.databaseUrl,
        TRUST_PROXY: "1",
      }),
    ),
  );
  const urls = await Promise.all(gateways.map((gateway) => gateway.ready()));
  const servers = urls.map((url) => `${new URL(url).host} maxconn ${maxConnections}`);
  const { port } = resources.use(await startBalancer(servers));
  const started = resources.move();
  return { port, gateways, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

/**
 * Starts HAProxy with its deployed configuration in front of servers, each an address with options.
 * @param edit changes the configuration, for example a timeout
 */
export async function startBalancer(
  servers: readonly string[],
  edit = (configuration: string) => configuration,
): Promise<AsyncDisposable & { readonly port: number }> {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await openFolder());
  const port = await freePort();
  const configuration = join(folder.path, "haproxy.cfg");
  await Bun.write(configuration, edit(await localConfiguration(port, servers)));
  const balancer = Bun.spawn([HAPROXY, "-db", "-f", configuration], { stdout: "ignore", stderr: "ignore" });
  resources.defer(async () => {
    balancer.kill("SIGKILL");
    await balancer.exited;
  });
  await untilListening(port, balancer);
  const started = resources.move();
  return { port, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

/** The deployed configuration with another port, and with addresses instead of names that Docker resolves. */
async function localConfiguration(port: number, servers: readonly string[]): Promise<string> {
  const deployed = await Bun.file(HAPROXY_CONFIGURATION).text();
  return deployed
    .replace("bind :8080", `bind 127.0.0.1:${port},[::1]:${port}`)
    .replace(" resolvers docker resolve-prefer ipv4 init-addr none", "")
    .replace(
      /^ {4}server-template .*$/m,
      servers.map((server, index) => `    server gateway-${index + 1} ${server}`).join("\n"),
    );
}

async function untilListening(port: number, balancer: Bun.Subprocess): Promise<void> {
  while (balancer.exitCode === null) {
    const isListening = await fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isListening) return;
  }
  throw new Error(`HAProxy exited with ${balancer.exitCode}`);
}
