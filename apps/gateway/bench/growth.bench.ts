/**
 * How response times grow with the number of users, todos and mails of the last day, on both databases. The services of all sizes
 * run at once, and requests alternate between them, one at a time. Derivations are replaced by a constant, because they
 * take as long at each size and vary by more than a query takes.
 */
import { join } from "node:path";
import type { Token } from "@latchkey/contracts";
import { openDatabase, type Recipient } from "@latchkey/database";
import {
  interleave,
  metOrMissed,
  parseOptions,
  percentile,
  print,
  printTable,
} from "@latchkey/testing/benchmark";
import { fillTables } from "@latchkey/testing/filled-tables";
import { startService } from "@latchkey/testing/measured-service";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import { querySqlite } from "@latchkey/testing/sqlite";
import { MAIL_BUDGETS } from "../src/rate-limit/limits.ts";
import { send, sendExpecting } from "./support/clients.ts";

const defaults = { databases: "libsql,postgres", sizes: "1000,100000,1000000", samples: 2000 };
const { databases, samples, ...options } = parseOptions(defaults);
const sizes = options.sizes.split(",").map(Number);
const MAX_RATIO = 1.5;
const PAGE = 20;
const ROUNDS = { rounds: samples, warmUp: 100 };
/** Each user has had a mail today. */
const FILL_OUTBOX = `insert into outbox (kind, user_id, email_digest, attempts, attempted_at, next_attempt_at)
  select 'reset', id, email, 1, created_at, null from users`;
const policy = {
  digestMailbox: ({ email }: Recipient) => email,
  budgets: Object.values(MAIL_BUDGETS),
  isWanted: () => true,
  isExpired: () => false,
};
const env = { NODE_ENV: "production", RATE_LIMIT_ENABLED: "false" };

type Operations = Readonly<Record<string, (round: number) => Promise<number>>>;

/** Returns the operations on a service with this many users; each resolves with its time in milliseconds. */
async function openSize(resources: AsyncDisposableStack, size: number, postgres: PostgresServer | null) {
  const variables = postgres ? { ...env, DATABASE_URL: await postgres.createDatabase() } : env;
  const main = join(import.meta.dir, "support/constant-derivations.ts");
  const { url, databaseUrl } = resources.use(await startService(variables, main));
  const query = (sql: string) => postgres?.query(sql, databaseUrl) ?? querySqlite(databaseUrl, sql);
  for (const statement of [...fillTables(size), FILL_OUTBOX]) await query(statement);
  // Otherwise autovacuum does the same during the measurement.
  if (postgres) await query("vacuum analyze");
  const { outbox } = resources.use(await openDatabase({ url: databaseUrl }));

  const email = () => `user${Math.ceil(size * Math.random())}@example.com`;
  const password = "correct horse battery";
  const tokens: string[] = [];
  const get = async (path: string, token?: string) =>
    (await sendExpecting(200, url + path, { ...(token && { token }) }, "GET")).ms;
  const getPage = (afterId: number) =>
    get(`/todos?limit=${PAGE}&cursor=${btoa(JSON.stringify({ id: afterId }))}`);
  const operations: Operations = {
    login: async () => {
      const body = { email: email(), password };
      const response = await send(`${url}/auth/login`, { body });
      tokens.push(response.expect<Token>(200).access_token);
      return response.ms;
    },
    "/auth/me": (round) => get("/auth/me", tokens.at(round)),
    "/todos, first page": () => get(`/todos?limit=${PAGE}`),
    "/todos, page in the middle": () => getPage(size / 2),
    "/todos, last page": () => getPage(size - PAGE),
    registration: async () => {
      const username = crypto.randomUUID().replaceAll("-", "");
      const body = { email: `${username}@example.com`, username, password };
      return (await sendExpecting(201, `${url}/auth/register`, { body })).ms;
    },
    "claim of a mail": async () => {
      await outbox.request("reset", email());
      const startedMs = performance.now();
      const mail = await outbox.claim(policy);
      const ms = performance.now() - startedMs;
      await outbox.finish(mail?.id ?? 0);
      return ms;
    },
  };
  return operations;
}

await using server = await startPostgresServer();
print(`${samples} requests of each kind and size; at most ${MAX_RATIO} times as long as with ${sizes[0]}`);
for (const name of databases.split(",")) {
  await using resources = new AsyncDisposableStack();
  const services: Operations[] = [];
  const postgres = name === "postgres" ? server : null;
  for (const size of sizes) services.push(await openSize(resources, size, postgres));
  const rows: string[][] = [];
  for (const operation of Object.keys(services[0] ?? {})) {
    const tasks = services.map((each, index) => [index, each[operation]]);
    const results = await interleave<Operations>(Object.fromEntries(tasks), ROUNDS);
    for (const percent of [50, 99]) {
      const times = sizes.map((_, index) => percentile(results[index] ?? [], percent));
      const ratios = times.map((ms) => ms / (times[0] ?? Number.NaN));
      const cells = times.map((ms, index) => `${ms.toFixed(3)} (${ratios[index]?.toFixed(2)})`);
      rows.push([operation, `p${percent}`, ...cells, metOrMissed(Math.max(...ratios) <= MAX_RATIO)]);
    }
  }
  print(`\n${name}, in ms`);
  printTable([["", "", ...sizes.map(String), ""], ...rows]);
}
