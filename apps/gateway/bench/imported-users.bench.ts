/**
 * Prints the processor time of verifications, as recorded in hash-costs.json, with which a test compares the hasher's estimates.
 * Compares the times of failed logins of imported users with those of unknown e-mails, and measures `/healthz` during such
 * logins. Hashes that take more than 5 % longer are listed in docs/security.md. The service has two workers and should be idle.
 */
import { cpus } from "node:os";
import { createHasher, parseImportedHash } from "@latchkey/hashing";
import {
  check,
  interleave,
  median,
  medianRatio,
  parseOptions,
  print,
  printRow,
} from "@latchkey/testing/benchmark";
import HASH_COSTS from "@latchkey/testing/hash-costs";
import { loadDuring, probe, startService } from "@latchkey/testing/measured-service";
import { failLogin, importUsers } from "./support/clients.ts";

const defaults = { rounds: 25, seconds: 5, clients: 32, costRounds: 5 };
const { rounds, seconds, clients, costRounds } = parseOptions(defaults);
const MAX_DIFFERENCE = 0.05;
const MAX_PROBE_MS = 5;
/** The clock of processor times advances by microseconds. */
const MIN_COST_MS = 20;

/** Of salts and keys: no password matches them. */
const TEXT = Buffer.alloc(32, 1).toString("base64");
const BCRYPT_TEXT = "N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";
const ARGON2_TAIL = "$c29tZXNhbHQ$AQEBAQEBAQEBAQEBAQEBAQ";
const UNKNOWN = "unknown e-mail";
const HASHES = {
  "PBKDF2-SHA256, 260,000": `pbkdf2_sha256$260000$salt$${TEXT}`,
  "PBKDF2-SHA256, 600,000": `pbkdf2_sha256$600000$salt$${TEXT}`,
  "PBKDF2-SHA256, 1,000,000": `pbkdf2_sha256$1000000$salt$${TEXT}`,
  "PBKDF2-SHA1, 260,000": `pbkdf2_sha1$260000$salt$${TEXT}`,
  "PBKDF2-SHA512, 100,000": `$pbkdf2-sha512$100000$${TEXT}$${TEXT}`,
  "PBKDF2-SHA512, 210,000": `$pbkdf2-sha512$210000$${TEXT}$${TEXT}`,
  "bcrypt, cost 8": `$2b$08$${BCRYPT_TEXT}`,
  "bcrypt, cost 10": `$2b$10$${BCRYPT_TEXT}`,
  "bcrypt, cost 12": `$2b$12$${BCRYPT_TEXT}`,
  "scrypt, 16 MiB": `$scrypt$ln=14,r=8,p=1$${TEXT}$${TEXT}`,
  "scrypt, 32 MiB": `$scrypt$ln=15,r=8,p=1$${TEXT}$${TEXT}`,
  "Argon2id, 7 MiB, five passes": `$argon2id$v=19$m=7168,t=5,p=1${ARGON2_TAIL}`,
  "Argon2id, 19 MiB, two passes": `$argon2id$v=19$m=19456,t=2,p=1${ARGON2_TAIL}`,
  "Argon2id, 100 MiB, two passes": `$argon2id$v=19$m=102400,t=2,p=1${ARGON2_TAIL}`,
  "the same, parallelism 8": `$argon2id$v=19$m=102400,t=2,p=8${ARGON2_TAIL}`,
} as const;

/** The least processor time of one run, which other processes change little. */
async function leastProcessorMs(run: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < costRounds; round++) {
    const started = process.cpuUsage();
    let [runs, usedMs] = [0, 0];
    for (; usedMs < MIN_COST_MS; runs++) {
      await run();
      const { user, system } = process.cpuUsage(started);
      usedMs = (user + system) / 1000;
    }
    least = Math.min(least, usedMs / runs);
  }
  return Number(least.toPrecision(3));
}

async function measureCosts() {
  await using hasher = createHasher({ workers: 1, nice: 0 });
  const { lanes } = hasher.stats();
  const fillLanes = () => Promise.all(Array.from({ length: lanes }, () => hasher.hash("password")));
  const derivationMs = (await leastProcessorMs(fillLanes)) / lanes;
  const milliseconds: Record<string, number> = {};
  for (const hash of Object.keys(HASH_COSTS.milliseconds)) {
    const parsed = parseImportedHash(hash);
    if (parsed.runsIn === "thread")
      milliseconds[hash] = await leastProcessorMs(() => parsed.verify("password"));
  }
  return { processor: cpus()[0]?.model, derivationMs, milliseconds };
}

if (costRounds > 0) print(JSON.stringify(await measureCosts(), null, 2));

const queue = { HASH_WORKERS: "2", HASH_QUEUE_SECONDS: "60", HASH_QUEUE_LIMIT: "10000" };
await using service = await startService({ ...queue, RATE_LIMIT_ENABLED: "false" });
await importUsers(service.databaseUrl, HASHES);

async function timeLogin(name: string): Promise<number> {
  const response = await failLogin(service.url, name);
  response.expect(401);
  return response.ms;
}

print(`failed logins, one at a time, ms; ${rounds} rounds`);
const tasks = [UNKNOWN, ...Object.keys(HASHES)].map((name) => [name, () => timeLogin(name)] as const);
const results = await interleave(Object.fromEntries(tasks), { rounds, warmUp: 2 });
const { [UNKNOWN]: unknown = [], ...times } = results;
printRow(UNKNOWN, unknown);
for (const [name, values] of Object.entries(times))
  printRow(name, values, { baselines: { [UNKNOWN]: unknown } });
const revealed = Object.entries(times).filter(
  ([, values]) => Math.abs(medianRatio(values, unknown) - 1) > MAX_DIFFERENCE,
);
const names = revealed.map(([name]) => name).join("; ") || "none";
print(`\nmore than ${100 * MAX_DIFFERENCE} % from ${UNKNOWN}: ${names}`);

const probeDuring = async (name: string) => {
  const measure = () => probe(service.url, seconds);
  return (await loadDuring(clients, () => timeLogin(name), measure)).result;
};

print(`\np99 of /healthz during ${clients} parallel logins, ms`);
const probed = ["bcrypt, cost 10", "bcrypt, cost 12", "scrypt, 32 MiB"] as const;
const probes = probed.map((name) => [name, () => probeDuring(name)] as const);
const p99s = Object.entries(await interleave(Object.fromEntries(probes), { rounds: 3 }));
for (const [name, values] of p99s) printRow(name, values, { digits: 2 });
const isMet = p99s.every(([, values]) => median(values) <= MAX_PROBE_MS);
check(isMet, `at most ${MAX_PROBE_MS} ms`);
