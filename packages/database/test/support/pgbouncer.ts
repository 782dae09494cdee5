/** A PgBouncer for tests: the installed `pgbouncer`, in front of a PostgreSQL server for tests. */
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { freePort, readUntil, UNPRIVILEGED } from "@latchkey/testing/server-process";

export type PgBouncer = Awaited<ReturnType<typeof startPgBouncer>>;

/**
 * @param serverPort the port of the PostgreSQL server
 * @param settings of the section `pgbouncer` of its configuration
 */
export async function startPgBouncer(serverPort: number, settings: Readonly<Record<string, string>>) {
  const folder = await openFolder();
  await chmod(folder.path, 0o755);
  const port = freePort();
  const users = join(folder.path, "users.txt");
  await Bun.write(users, '"latchkey" "latchkey"\n');
  const all = {
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
    auth_type: "scram-sha-256",
    auth_file: users,
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}\n`);
  const file = join(folder.path, "pgbouncer.ini");
  await Bun.write(file, `[databases]\n* = host=127.0.0.1 port=${serverPort}\n[pgbouncer]\n${lines.join("")}`);
  const pooler = Bun.spawn(["pgbouncer", file], { ...UNPRIVILEGED, stdout: "ignore", stderr: "pipe" });
  await readUntil(pooler.stderr, "process up");
  // Otherwise, the pooler stands still when nobody reads its log.
  void pooler.stderr.pipeTo(new WritableStream());
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      pooler.kill("SIGKILL");
      await pooler.exited;
      await folder[Symbol.asyncDispose]();
    },
  };
}
