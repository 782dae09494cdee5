/**
 * The load check of key changes: three replicas behind HAProxy on PostgreSQL and Redis change from HS256 to EdDSA, to a new key
 * of ES256, and back to HS256, as `docs/operations.md` describes it. No request is lost, and every key is published before it
 * signs. The last step skips the publication, which must lose requests. The exit code is 1 if a step fails.
 */
import { createKeyPair } from "@latchkey/testing/keys";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { startProcess } from "@latchkey/testing/service-process";
import { startBalancer } from "../test/compose/balancer.ts";
import { SECRET } from "../test/configuration.ts";
import { addressesOf, openSlots, SHUTDOWN_DELAY_SECONDS, type Slot, stop } from "./slots.ts";
import { REQUESTS_PER_SECOND, startTraffic } from "./traffic.ts";

type Variables = Readonly<Record<string, string>>;

/** Until every user has a new token. A deployment waits for as long as tokens are valid. */
const REFRESH_MS = 2_000;

const eddsa = createKeyPair("EdDSA");
const es256 = createKeyPair("ES256");
const unpublished = createKeyPair("EdDSA");
const OTHER_SECRET = [...SECRET].reverse().join("");

interface Step {
  readonly name: string;
  readonly keys: Variables;
  /** Whether the step must lose requests. @default false */
  readonly isControl?: true;
}

const withEdDsa = { AUTH_ALGORITHM: "EdDSA", AUTH_PRIVATE_KEY: eddsa.privatePem };
const withEs256 = { AUTH_ALGORITHM: "ES256", AUTH_PRIVATE_KEY: es256.privatePem };

const STEPS: readonly Step[] = [
  {
    name: "HS256: publish the key of EdDSA",
    keys: { AUTH_SECRET_KEY: SECRET, AUTH_NEXT_PUBLIC_KEY: eddsa.publicPem },
  },
  { name: "change to EdDSA", keys: { ...withEdDsa, AUTH_SECRET_KEY_PREVIOUS: SECRET } },
  {
    name: "remove the secret, publish the next key",
    keys: { ...withEdDsa, AUTH_NEXT_PUBLIC_KEY: es256.publicPem },
  },
  { name: "change to ES256", keys: { ...withEs256, AUTH_PREVIOUS_PUBLIC_KEY: eddsa.publicPem } },
  {
    name: "remove the previous key, add a new secret",
    keys: { ...withEs256, AUTH_SECRET_KEY_PREVIOUS: OTHER_SECRET },
  },
  {
    name: "change back to HS256",
    keys: { AUTH_SECRET_KEY: OTHER_SECRET, AUTH_PREVIOUS_PUBLIC_KEY: es256.publicPem },
  },
  { name: "remove the previous key", keys: { AUTH_SECRET_KEY: OTHER_SECRET } },
  {
    name: "control: change to a key that is not published",
    keys: {
      AUTH_ALGORITHM: "EdDSA",
      AUTH_PRIVATE_KEY: unpublished.privatePem,
      AUTH_SECRET_KEY_PREVIOUS: OTHER_SECRET,
    },
    isControl: true,
  },
];

async function start(slot: Slot, variables: Variables): Promise<void> {
  slot.replica = startProcess({ ...variables, PORT: String(slot.port) });
  await slot.replica.ready();
}

/** The key ids that the replica publishes. */
async function publishedKeys({ port }: Slot): Promise<readonly string[]> {
  const response = await fetch(`http://127.0.0.1:${port}/.well-known/jwks.json`);
  // The cast is safe: the OpenAPI document describes this body, and the gateway's tests compare both.
  const { keys } = (await response.json()) as { readonly keys: readonly { readonly kid: string }[] };
  return keys.map(({ kid }) => kid);
}

async function main(): Promise<boolean> {
  await using resources = new AsyncDisposableStack();
  const postgres = resources.use(await startPostgresServer());
  const redis = await startRedisServer();
  if (!redis) throw new Error("redis-server is not installed");
  resources.use(redis);
  const shared = {
    NODE_ENV: "production",
    DATABASE_URL: await postgres.createDatabase(),
    REDIS_URL: redis.url,
    TRUST_PROXY: "1",
    RATE_LIMIT_DEFAULT: "1000000/hour",
    RATE_LIMIT_LOGIN: "1000000/hour",
    SHUTDOWN_DELAY_SECONDS: String(SHUTDOWN_DELAY_SECONDS),
  };
  const slots = await openSlots(resources);
  await Promise.all(slots.map((slot) => start(slot, { ...shared, AUTH_SECRET_KEY: SECRET })));
  const balancer = resources.use(await startBalancer({ addresses: addressesOf(slots) }));
  const traffic = await startTraffic(`http://127.0.0.1:${balancer.port}`);
  process.stdout.write(`${slots.length} replicas, ${REQUESTS_PER_SECOND} requests/s\n`);

  const results = [];
  let published: readonly string[] = [];
  for (const { name, keys, isControl = false } of STEPS) {
    const counts = traffic.beginStep();
    for (const slot of slots) {
      await stop(slot);
      await start(slot, { ...shared, ...keys });
    }
    await Bun.sleep(REFRESH_MS);
    const current = await publishedKeys(slots[0]);
    // The first key of the set is the one that signs.
    const signing = keys.AUTH_PRIVATE_KEY === undefined ? undefined : current[0];
    const wasPublished = signing === undefined || published.includes(signing);
    published = current;
    results.push({ name, counts, isControl, wasPublished });
  }
  await traffic.stop();

  // Reported together, because a request of a step can be lost after the step has ended.
  return results
    .map(({ name, counts, isControl, wasPublished }) => {
      const lost = [...counts.lost.values()].reduce((sum, count) => sum + count, 0);
      const isPassed = isControl ? lost > 0 : lost === 0 && wasPublished;
      const figures = `${counts.sent} requests, ${lost} lost${isControl ? ", as expected" : ""}`;
      process.stdout.write(`${isPassed ? "ok    " : "FAILED"} ${name.padEnd(48)}${figures}\n`);
      if (!isControl && !wasPublished) process.stdout.write("  the signing key was not published before\n");
      for (const [problem, count] of counts.lost) process.stdout.write(`  ${count} × ${problem}\n`);
      return isPassed;
    })
    .every(Boolean);
}

process.exit((await main()) ? 0 : 1);
