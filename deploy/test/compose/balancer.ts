/** HAProxy with its deployed configuration, on another port and with addresses instead of names that Docker resolves. */
import { test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { ROOT } from "@latchkey/testing/repository";
import { freePort, untilOk } from "@latchkey/testing/server-process";

export const CONFIGURATION = await Bun.file(join(ROOT, "deploy/haproxy/haproxy.cfg")).text();
export const MAX_REPLICAS = Number(/server-template gateway- (\d+) gateway:/.exec(CONFIGURATION)?.[1]);

/** With the folder of Debian's servers, which is not on the path of users. */
export const PATH = `${process.env.PATH}:/usr/sbin`;

/** The program's path, for tests that run with {@link haproxyTest}. */
export const HAPROXY = Bun.which("haproxy", { PATH }) ?? "haproxy";

/** A `test` that is skipped and reported without one of the programs, except in CI, where it fails. */
export function testWith(...programs: readonly string[]) {
  const missing = programs.filter((program) => Bun.which(program, { PATH }) === null);
  if (missing.length > 0) process.stderr.write(`Not installed, and not tested with: ${missing.join(", ")}\n`);
  return test.skipIf(missing.length > 0 && !process.env.CI);
}

export const haproxyTest = testWith("haproxy");

export interface BalancerOptions {
  /** Each `host:port` of a replica; at least one of them must be ready. */
  readonly addresses: readonly string[];
  /** The variables that Compose sets. @default none: those of the configuration */
  readonly environment?: Readonly<Record<string, string>>;
  /** Changes the configuration, for example a timeout. @default unchanged */
  readonly edit?: (configuration: string) => string;
}

/** Resolves once requests reach a replica. Listens on 127.0.0.1 and ::1; `log` returns what it has written. */
export async function startBalancer({
  addresses,
  environment = {},
  edit = (configuration) => configuration,
}: BalancerOptions) {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await openFolder());
  const port = freePort();
  const servers = addresses.map((address, index) => `    server gateway-${index + 1} ${address}`);
  const configuration = CONFIGURATION.replace("bind :8080", `bind 127.0.0.1:${port},[::1]:${port}`)
    .replace(" resolvers docker resolve-prefer ipv4 init-addr last,none", "")
    .replace("stats socket ipv4@127.0.0.1:9999", `stats socket ${join(folder.path, "stats")}`)
    .replace("/tmp/servers", join(folder.path, "servers"))
    .replace(/^\.if streq\("\$COMPOSE_PROFILES".*?^\.endif$/ms, servers.join("\n"));
  const file = join(folder.path, "haproxy.cfg");
  await Bun.write(file, edit(configuration));
  const logFile = join(folder.path, "log");
  const command = ["/bin/sh", "-c", 'exec "$0" -db -f "$1" >> "$2" 2>&1', HAPROXY, file, logFile];
  const balancer = resources.use(Bun.spawn(command, { env: environment, killSignal: "SIGKILL" }));
  await untilOk(`http://127.0.0.1:${port}/healthz`, balancer);
  return Object.assign(resources.move(), { port, log: () => Bun.file(logFile).text() });
}
