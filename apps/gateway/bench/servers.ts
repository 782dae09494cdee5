/** Servers to be measured: each a process of its own, ended when it is disposed. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@latchkey/tooling/free-port";
import { post } from "../test/process.ts";

export interface Server extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  readonly pid: number;
}

/** A folder for logs and an embedded database, removed with everything in it. */
export async function openFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "latchkey-bench-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export const benchSecretKey = Buffer.from(crypto.getRandomValues(new Uint8Array(48))).toString("base64url");

/** The embedded database of a folder. */
export const fileUrl = (folder: string): string => `file:${join(folder, "bench.db")}`;

/** The service as it ships: every layer on, limits far away, one JSON line a request into a file of the folder. */
export async function startService(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const port = await freePort();
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../src/main.ts")], {
    env: {
      PORT: String(port),
      DATABASE_URL: fileUrl(folder),
      AUTH_SECRET_KEY: benchSecretKey,
      RATE_LIMIT_DEFAULT: "999999999/minute",
      LOG_FORMAT: "json",
      ...env,
    },
    stdout: Bun.file(join(folder, `${port}.log`)),
    stderr: "inherit",
  });
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}`);
    await Bun.sleep(10);
  }
  return { url, pid: child.pid, [Symbol.asyncDispose]: () => end(child) };
}

/** A yardstick of this folder, which prints its URL when it listens. */
export async function startBare(source: "bare.ts" | "bare-queries.ts", ...args: string[]): Promise<Server> {
  const command = [process.execPath, join(import.meta.dir, source), ...args];
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  if (value === undefined) throw new Error(`${source} ended with ${await child.exited}`);
  const url = new TextDecoder().decode(value).trim();
  return { url, pid: child.pid, [Symbol.asyncDispose]: () => end(child) };
}

async function end(child: Bun.Subprocess): Promise<void> {
  child.kill();
  await child.exited;
}

/** Gives the service more todos than a page has, and an account: the headers that it is asked with. */
export async function seed(url: string): Promise<{ readonly authorization: string }> {
  const person = { email: "bench@example.org", username: "bench", password: "correct horse battery" };
  for (let index = 1; index <= 25; index++) await post(`${url}/todos`, { title: `Todo number ${index}` });
  await post(`${url}/auth/register`, person);
  const answer = await post(`${url}/auth/login`, person);
  const { access_token } = (await answer.json()) as { access_token: string };
  return { authorization: `Bearer ${access_token}` };
}
