/**
 * Compares three routes on the embedded database, in the configuration of production, with small programs without
 * middleware that return the same bodies, renewals of tokens with reads of the current user, and measures the memory of the
 * service.
 */
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { interleave, parseOptions, print, printRow } from "@latchkey/testing/benchmark";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { measureLoad, residentBytes, startProgram, startService } from "@latchkey/testing/measured-service";
import { ROOT } from "@latchkey/testing/repository";
import { $ } from "bun";
import { seed } from "./support/clients.ts";
import { compareRoutes, startElysia } from "./support/compare.ts";

/** Outside of the workspaces, because only this benchmark needs the native driver, which npm compiles for minutes. */
const FASTIFY = join(ROOT, "node_modules/.cache/bench-fastify");

/** Installs and starts Fastify on Node; null if Node or npm is not installed. */
async function startFastify(url: string) {
  const [node, npm] = [Bun.which("node"), Bun.which("npm")];
  if (node === null || npm === null) {
    print("Fastify is not measured: it needs node and npm.");
    return null;
  }
  await mkdir(FASTIFY, { recursive: true });
  await cp(join(import.meta.dir, "fastify"), FASTIFY, { recursive: true });
  await $`${npm} install --no-package-lock --no-audit --no-fund`.cwd(FASTIFY).quiet();
  return startProgram(node, join(FASTIFY, "server.js"), url, SECRET_KEY);
}

const options = parseOptions({ rounds: 5, seconds: 2, connections: 32 });
const printMemory = async (name: string) => printRow(name, [(await residentBytes(service.pid)) / 1024 ** 2]);

await using service = await startService({ NODE_ENV: "production", AUTH_RENEWAL_DAYS: "30" });
await Bun.sleep(1000);
await printMemory("MiB resident, idle");
const load = { ...options, headers: await seed(service.url) };
await using elysia = await startElysia(service.databaseUrl);
await using fastify = await startFastify(service.databaseUrl);
const yardsticks = { "Elysia + bun:sqlite": elysia, ...(fastify && { "Fastify + better-sqlite3": fastify }) };
await compareRoutes({ Latchkey: service, ...yardsticks }, load);
const [me, tokens] = [`${service.url}/auth/me`, `${service.url}/auth/tokens`];
// A baseline can be older than renewals.
if ((await fetch(tokens, { method: "POST", headers: load.headers })).ok) {
  const rateOf = async (request: { url: string; method?: "POST" }) =>
    (await measureLoad({ ...load, ...request })).rate;
  const tasks = { reads: () => rateOf({ url: me }), renewals: () => rateOf({ url: tokens, method: "POST" }) };
  const { renewals, reads } = await interleave(tasks, { ...options, warmUp: 1 });
  print();
  printRow("POST /auth/tokens, requests/s", renewals, { baselines: { "GET /auth/me": reads } });
}
await printMemory("MiB resident, after the load");
