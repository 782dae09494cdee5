/**
 * A PostgreSQL server for tests: the binaries from npm with a temporary data directory on a free port of 127.0.0.1. It can
 * be frozen, killed and restarted. Disposing it removes all processes and files.
 */
import { chmod, copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ServerCertificate } from "./certificates.ts";
import { openFolder } from "./folder.ts";
import { chownToServer, copyFolder, initialize, SUPERUSER } from "./postgres-data.ts";
import { freePort, readUntil } from "./server-process.ts";

/** The owner of the databases; not a superuser, as in production. */
const OWNER = { username: "latchkey", password: "latchkey" };

export type PostgresServer = Awaited<ReturnType<typeof startPostgresServer>>;

function signalAll(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has exited in the meantime.
    }
  }
}

/** Copies the certificate and key into the data directory. The server accepts only a key that no other user can read. */
async function installCertificate(data: string, { certificateFile, keyFile }: ServerCertificate) {
  const files = { "server.crt": certificateFile, "server.key": keyFile };
  for (const [name, source] of Object.entries(files)) {
    const target = join(data, name);
    await copyFile(source, target);
    await chmod(target, 0o600);
    await chownToServer(target);
  }
}

/**
 * @param settings of the server, by their names in `postgresql.conf`
 * @param certificate enables TLS on the server; connections without TLS remain possible
 * @param programs the folder of another release, which contains `bin`. @default the binaries from npm
 */
export async function startPostgresServer(
  settings: Record<string, string> = {},
  certificate?: ServerCertificate,
  programs?: string,
) {
  const folder = await openFolder();
  const data = join(folder.path, "data");
  const run = await initialize(folder.path, data, programs);
  if (certificate) await installCertificate(data, certificate);
  const port = freePort();
  const configure = (others: Record<string, string> = {}) =>
    Object.entries({
      port: String(port),
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      fsync: "off",
      // A machine that crashes ends the tests. Their tables are too small to be worth a process that cleans them.
      full_page_writes: "off",
      autovacuum: "off",
      ssl: certificate ? "on" : "off",
      ...settings,
      ...others,
    }).map(([name, value]) => `--${name}=${value}`);
  const adminUrl = `postgres://${SUPERUSER.username}:${SUPERUSER.password}@127.0.0.1:${port}/postgres`;
  const spawn = () => run("postgres", data, ...configure());
  let server = spawn();
  let frozen: number[] = [];
  /** An immediate shutdown, which removes the shared memory, unlike SIGKILL. */
  const quit = () => {
    signalAll([server.pid], "SIGQUIT");
    signalAll(frozen, "SIGCONT");
  };
  // The server must not outlive a test runner that exits without disposing it.
  process.once("exit", quit);
  const untilReady = async () => {
    await readUntil(server.stderr, "ready to accept connections");
    void server.stderr.pipeTo(new WritableStream());
  };
  await untilReady();
  let databases = 0;

  /** Suspends the postmaster first, because it starts the other processes. No process can then start after the list is read. */
  const suspendAll = async (): Promise<number[]> => {
    await using admin = new Bun.SQL(adminUrl, { max: 1 });
    await admin.connect();
    server.kill("SIGSTOP");
    const rows: { pid: number }[] = await admin.unsafe("select pid from pg_stat_activity");
    const pids = [server.pid, ...rows.map(({ pid }) => pid)];
    signalAll(pids, "SIGSTOP");
    return pids;
  };

  /** Kept open, because each connection costs the server tens of CPU milliseconds. */
  let administration: Bun.SQL | null = null;
  const closeAdministration = async () => {
    await administration?.close({ timeout: 0 });
    administration = null;
  };

  /** Ends all processes of the server with SIGKILL. */
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    await closeAdministration();
    signalAll(frozen.length > 0 ? frozen : await suspendAll(), "SIGKILL");
    frozen = [];
    await server.exited;
  };

  /** Restarts the server with the same port and data. */
  const start = async (): Promise<void> => {
    server = spawn();
    await untilReady().catch((error) => {
      // A process that was starting when the server was killed ends by itself; until then, it keeps the shared memory.
      if (!String(error).includes("pre-existing shared memory block")) throw error;
      return start();
    });
  };

  /** Runs SQL as the superuser: on a new connection to the database at `url`, or on one that stays open. */
  const query = async <Row>(sql: string, url?: string): Promise<Row[]> => {
    if (url === undefined) {
      administration ??= new Bun.SQL(adminUrl, { max: 1 });
      return await administration.unsafe(sql);
    }
    await using admin = new Bun.SQL(url, { ...SUPERUSER, max: 1 });
    return await admin.unsafe(sql);
  };

  /**
   * Starts a standby that follows this server, on the same port of another address of this machine. Restarts this server.
   * Disposing the result kills the standby.
   */
  const startStandby = async (listenAddress: string): Promise<AsyncDisposable> => {
    await kill();
    const copy = join(folder.path, `standby-${listenAddress}`);
    await copyFolder(data, copy);
    await rm(join(copy, "postmaster.pid"));
    await Bun.write(join(copy, "standby.signal"), "");
    await start();
    const primary = `host=127.0.0.1 port=${port} user=${SUPERUSER.username} password=${SUPERUSER.password}`;
    const standby = run(
      "postgres",
      copy,
      ...configure({ listen_addresses: listenAddress, primary_conninfo: primary }),
    );
    await readUntil(standby.stderr, "ready to accept read-only connections");
    void standby.stderr.pipeTo(new WritableStream());
    return {
      [Symbol.asyncDispose]: async () => {
        standby.kill("SIGQUIT");
        await standby.exited;
      },
    };
  };

  await query(`create role ${OWNER.username} login password '${OWNER.password}'`);
  return {
    port,
    start,
    kill,
    startStandby,
    query,
    /**
     * Creates a database and returns its URL, which contains its owner.
     * @param template the URL of the database to copy, which must have no connections. @default an empty database
     */
    createDatabase: async (template?: string) => {
      const name = `test_${++databases}`;
      const source = template === undefined ? "template1" : new URL(template).pathname.slice(1);
      // The default strategy writes each page into the log, which costs four times as much for a small database.
      await query(`create database ${name} owner ${OWNER.username} template ${source} strategy file_copy`);
      return `postgres://${OWNER.username}:${OWNER.password}@127.0.0.1:${port}/${name}`;
    },
    /** Suspends all processes until the result is disposed: connections stay open, but the server does not respond. */
    freeze: async (): Promise<Disposable> => {
      frozen = await suspendAll();
      return {
        [Symbol.dispose]: () => {
          signalAll(frozen, "SIGCONT");
          frozen = [];
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      await closeAdministration();
      if (server.exitCode === null && server.signalCode === null) quit();
      await server.exited;
      process.off("exit", quit);
      await folder[Symbol.asyncDispose]();
    },
  };
}
