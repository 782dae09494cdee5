/**
 * A PostgreSQL server that all test files of a process share, because starting it takes longer than a test. A worker of
 * `bun test --parallel` runs `afterAll` after each file and gets no event at its end: the server ends with its process.
 */
import { dirname } from "node:path";
import { startPostgresServer } from "./postgres-server.ts";

/** Ends when the pipe to it closes, even if this process is killed; then stops the server at once and removes its folder. */
const STOP_WITH_PARENT = `cat
read pid < "$1/postmaster.pid" && kill -QUIT "$pid" && while kill -0 "$pid"; do sleep 0.05; done
rm -rf "$2"`;

async function startServer() {
  const postgres = await startPostgresServer();
  const [row] = await postgres.query<{ data_directory: string }>("show data_directory");
  if (!row) throw new Error("The server does not name its data directory");
  const data = row.data_directory;
  Bun.spawn(["sh", "-c", STOP_WITH_PARENT, "sh", data, dirname(data)], {
    stdio: ["pipe", "ignore", "ignore"],
    // A signal to the process group of the tests must not end it.
    detached: true,
  }).unref();
  return postgres;
}

let server: ReturnType<typeof startServer> | undefined;

/** Not for tests that stop the server or change its settings, or those of the role of the service. */
export const sharedPostgresServer = () => (server ??= startServer());
