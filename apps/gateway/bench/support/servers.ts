/** The programs that the service is compared with, and the data of the service. */
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { print } from "@latchkey/testing/benchmark";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { type MeasuredServer, startProgram } from "@latchkey/testing/measured-service";
import { ROOT } from "@latchkey/testing/repository";
import { post } from "@latchkey/testing/service-process";
import { $ } from "bun";

const BENCH = join(import.meta.dir, "..");
/** Outside of the workspaces, because only this benchmark needs the native driver, which npm compiles for minutes. */
const FASTIFY = join(ROOT, "node_modules/.cache/bench-fastify");
/** More than one page. */
const TODOS = 25;

/** Starts a program of `yardsticks/` on the same database. */
export const startElysia = (
  source: "elysia-sqlite.ts" | "elysia-postgres.ts",
  url: string,
  ...args: string[]
): Promise<MeasuredServer> =>
  startProgram(process.execPath, join(BENCH, "yardsticks", source), url, SECRET_KEY, ...args);

/** Installs and starts Fastify on Node; null if Node or npm is not installed. */
export async function startFastify(url: string): Promise<MeasuredServer | null> {
  const [node, npm] = [Bun.which("node"), Bun.which("npm")];
  if (node === null || npm === null) {
    print("Fastify is not measured: it needs node and npm.");
    return null;
  }
  await mkdir(FASTIFY, { recursive: true });
  await cp(join(BENCH, "fastify"), FASTIFY, { recursive: true });
  await $`${npm} install --no-package-lock --no-audit --no-fund`.cwd(FASTIFY).quiet();
  return startProgram(node, join(FASTIFY, "server.js"), url, SECRET_KEY);
}

/** Creates todos and a user; returns the request headers that authenticate this user. */
export async function seed(url: string): Promise<{ readonly authorization: string }> {
  const user = { email: "bench@example.org", username: "bench", password: "correct horse battery" };
  for (let index = 1; index <= TODOS; index++) await post(`${url}/todos`, { title: `Todo number ${index}` });
  await post(`${url}/auth/register`, user);
  const response = await post(`${url}/auth/login`, user);
  const { access_token } = (await response.json()) as { access_token: string };
  return { authorization: `Bearer ${access_token}` };
}
