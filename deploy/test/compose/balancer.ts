/** HAProxy with its deployed configuration, on another port and with addresses instead of names that Docker resolves. */
import { test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { ROOT } from "@latchkey/testing/repository";
import { freePort } from "@latchkey/testing/server-process";

export const HAPROXY_CONFIGURATION = join(ROOT, "deploy/haproxy/haproxy.cfg");

const installed = Bun.which("haproxy", { PATH: `${process.env.PATH}:/usr/sbin` });
if (installed === null) process.stderr.write("haproxy is not installed: the balancer is not tested.\n");

/** The program's path, for tests that run with {@link haproxyTest}. */
export const HAPROXY = installed ?? "haproxy";

/** A `test` that is skipped without HAProxy, except in CI, where it fails. */
export const haproxyTest = test.skipIf(installed === null && !process.env.CI);

interface Balancer extends AsyncDisposable {
  /** On 127.0.0.1 and ::1. */
  readonly port: number;
}

export interface BalancerOptions {
  /** Each `host:port` of a replica; at least one of them must be ready. */
  readonly addresses: readonly string[];
  /** Concurrent connections to one replica; 0 means no limit. @default 0 */
  readonly maxConnections?: number;
  /** Changes the configuration, for example a timeout. @default unchanged */
  readonly edit?: (configuration: string) => string;
}

/** Resolves once requests reach a replica. */
export async function startBalancer({
  addresses,
  maxConnections = 0,
  edit = (configuration) => configuration,
}: BalancerOptions): Promise<Balancer> {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await openFolder());
  const port = freePort();
  const servers = addresses.map(
    (address, index) => `    server gateway-${index + 1} ${address} maxconn ${maxConnections}`,
  );
  const deployed = await Bun.file(HAPROXY_CONFIGURATION).text();
  const configuration = join(folder.path, "haproxy.cfg");
  await Bun.write(
    configuration,
    edit(
      deployed
        .replace("bind :8080", `bind 127.0.0.1:${port},[::1]:${port}`)
        .replace(" resolvers docker resolve-prefer ipv4 init-addr none", "")
        .replace(/^ {4}server-template .*$/m, servers.join("\n")),
    ),
  );
  const balancer = Bun.spawn([HAPROXY, "-db", "-f", configuration], { stdout: "ignore", stderr: "ignore" });
  resources.defer(async () => {
    balancer.kill("SIGKILL");
    await balancer.exited;
  });
  await untilListening(port, balancer);
  const started = resources.move();
  return { port, [Symbol.asyncDispose]: () => started.disposeAsync() };
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
