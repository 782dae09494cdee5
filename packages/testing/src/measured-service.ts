/** The service as it ships, to be measured: one process per instance, which ends when it is disposed. */
import { join } from "node:path";
import type { TemporaryFolder } from "./folder.ts";
import { freePort } from "./free-port.ts";
import { GATEWAY_MAIN } from "./repository.ts";

export interface MeasuredServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  readonly pid: number;
}

export const benchSecretKey = Buffer.from(crypto.getRandomValues(new Uint8Array(48))).toString("base64url");

/**
 * Starts the service with all middleware, limits out of reach and one JSON line per request in a file of the folder.
 * Resolves once `/readyz` returns 200.
 */
export async function startService(
  folder: TemporaryFolder,
  env: Readonly<Record<string, string>> = {},
): Promise<MeasuredServer> {
  const port = await freePort();
  const child = Bun.spawn([process.execPath, GATEWAY_MAIN], {
    env: {
      PORT: String(port),
      DATABASE_URL: folder.databaseUrl,
      AUTH_SECRET_KEY: benchSecretKey,
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
  return measured(url, child);
}

/** Starts a program that prints its URL once it listens. */
export async function startProgram(path: string, ...args: string[]): Promise<MeasuredServer> {
  const child = Bun.spawn([process.execPath, path, ...args], { stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  if (value === undefined) throw new Error(`${path} exited with ${await child.exited}`);
  return measured(new TextDecoder().decode(value).trim(), child);
}

const measured = (url: string, child: Bun.Subprocess): MeasuredServer => ({
  url,
  pid: child.pid,
  async [Symbol.asyncDispose]() {
    child.kill();
    await child.exited;
  },
});
