/**
 * The load check of key changes: three replicas behind HAProxy on PostgreSQL and Redis change from HS256 to EdDSA, to a new key
 * of ES256, and back to HS256, as `docs/operations.md` describes it. No request is lost, and every key is published before it
 * signs. The last step skips the publication, which must lose requests. The exit code is 1 if a step fails.
 */
import { parseOptions, print } from "@latchkey/testing/benchmark";
import { createKeyPair } from "@latchkey/testing/keys";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { SECRET, type Variables } from "../test/configuration.ts";
import { openSlots, replaceAll, runSteps, type Slot, type Step, start } from "./cluster.ts";

parseOptions({});

/** Until every user has a new token. A deployment waits for as long as tokens are valid. */
const REFRESH_MS = 4_000;

const eddsa = createKeyPair("EdDSA");
const es256 = createKeyPair("ES256");
const unpublished = createKeyPair("EdDSA");
const OTHER_SECRET = [...SECRET].reverse().join("");

const withEdDsa = { AUTH_ALGORITHM: "EdDSA", AUTH_PRIVATE_KEY: eddsa.privatePem };
const withEs256 = { AUTH_ALGORITHM: "ES256", AUTH_PRIVATE_KEY: es256.privatePem };
const withSecret = { AUTH_SECRET_KEY: OTHER_SECRET };

/** The key ids that the replica publishes. */
async function publishedKeys({ port }: Slot): Promise<readonly string[]> {
  const response = await fetch(`http://127.0.0.1:${port}/.well-known/jwks.json`);
  // The cast is safe: the OpenAPI document describes this body, and the gateway's tests compare both.
  const { keys } = (await response.json()) as { readonly keys: readonly { readonly kid: string }[] };
  return keys.map(({ kid }) => kid);
}

await using resources = new AsyncDisposableStack();
const postgres = resources.use(await startPostgresServer());
const redis = await startRedisServer();
if (!redis) throw new Error("redis-server is not installed");
resources.use(redis);
const shared = { DATABASE_URL: await postgres.createDatabase(), REDIS_URL: redis.url };
const slots = await openSlots(resources);
const startWith = (keys: Variables) => (slot: Slot) => start(slot, { ...shared, ...keys }).ready();
await Promise.all(slots.map(startWith({ AUTH_SECRET_KEY: SECRET })));
print(`${slots.length} replicas`);

let published: readonly string[] = [];
/** Returns whether the key that signs afterwards was published before. */
const change = async (keys: Variables): Promise<boolean> => {
  await replaceAll(slots, startWith(keys));
  await Bun.sleep(REFRESH_MS);
  const previous = published;
  published = await publishedKeys(slots[0]);
  // The first key of the set is the one that signs.
  const signing = keys.AUTH_PRIVATE_KEY === undefined ? undefined : published[0];
  return signing === undefined || previous.includes(signing);
};
const step = (name: string, keys: Variables): Step => ({
  name,
  async run() {
    if (!(await change(keys))) throw new Error("The signing key was not published before");
  },
});
const control: Step = {
  name: "control: change to a key that is not published",
  isControl: true,
  run: () =>
    change({
      AUTH_ALGORITHM: "EdDSA",
      AUTH_PRIVATE_KEY: unpublished.privatePem,
      AUTH_SECRET_KEY_PREVIOUS: OTHER_SECRET,
    }),
};
const isPassed = await runSteps(resources, slots, [
  step("HS256: publish the key of EdDSA", { AUTH_SECRET_KEY: SECRET, AUTH_NEXT_PUBLIC_KEY: eddsa.publicPem }),
  step("change to EdDSA", { ...withEdDsa, AUTH_SECRET_KEY_PREVIOUS: SECRET }),
  step("remove the secret, publish the next key", { ...withEdDsa, AUTH_NEXT_PUBLIC_KEY: es256.publicPem }),
  step("change to ES256", { ...withEs256, AUTH_PREVIOUS_PUBLIC_KEY: eddsa.publicPem }),
  step("remove the previous key, add a new secret", { ...withEs256, AUTH_SECRET_KEY_PREVIOUS: OTHER_SECRET }),
  step("change back to HS256", { ...withSecret, AUTH_PREVIOUS_PUBLIC_KEY: es256.publicPem }),
  step("remove the previous key", withSecret),
  control,
]);
process.exitCode = isPassed ? 0 : 1;
