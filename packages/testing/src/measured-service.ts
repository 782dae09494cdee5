/** The deployed service for benchmarks: its log goes to a file, so that the benchmark spends no time on reading it. */
import { join } from "node:path";
import type { TemporaryFolder } from "./folder.ts";
import { SECRET_KEY } from "./keys.ts";
import { GATEWAY_MAIN } from "./repository.ts";
import { freePort } from "./server-process.ts";

export type MeasuredServer = ReturnType<typeof toMeasuredServer>;

/**
 * Starts the service with all middleware, with limits too high to be reached and with one JSON line per request in a file
 * in the folder. Resolves once `/readyz` returns 200.
 * @param main another program that reads the same variables
 */
export async function startService(
  folder: TemporaryFolder,
  env: Readonly<Record<string, string>> = {},
  main = GATEWAY_MAIN,
): Promise<MeasuredServer> {
  const port = await freePort();
  const child = Bun.spawn([process.execPath, main], {
    env: {
      PORT: String(port),
      DATABASE_URL: folder.databaseUrl,
      AUTH_SECRET_KEY: SECRET_KEY,
      RATE_LIMIT_DEFAULT: "999999999/minute",
      LOG_FORMAT: "json",
      ...env,
    },
    stdout: Bun.file(join(folder.path, `${port}.log`)),
    stderr: "inherit",
  });
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`The service exited with ${child.exitCode}`);
    await Bun.sleep(10);
  }
  return toMeasuredServer(url, child);
}

/** Starts a program that prints its URL once it listens. */
export async function startProgram(...command: readonly string[]): Promise<MeasuredServer> {
  const child = Bun.spawn([...command], { stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  if (value === undefined) throw new Error(`${command.join(" ")} exited with ${await child.exited}`);
  return toMeasuredServer(new TextDecoder().decode(value).trim(), child);
}

/** @param url `http://127.0.0.1:PORT`, without a trailing slash */
const toMeasuredServer = (url: string, child: Bun.Subprocess) => ({
  url,
  pid: child.pid,
  async [Symbol.asyncDispose]() {
    child.kill();
    await child.exited;
  },
});
