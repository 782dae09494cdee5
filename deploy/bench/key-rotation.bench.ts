/**
 * The load check of key changes: three replicas behind HAProxy on PostgreSQL and Redis change from HS256 to EdDSA, to a new key
 * of ES256, and back to HS256, as `docs/keys.md` describes it. No request is lost. The last
 * step does not publish the key before it signs, which must lose requests. The exit code is 1 if a step fails.
 */
import { parseOptions, print } from "@latchkey/testing/benchmark";
import { createKeyPair } from "@latchkey/testing/keys";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { SECRET, type Variables } from "../test/configuration.ts";
import { openCluster } from "./cluster.ts";

parseOptions({});

const [eddsa, es256, unpublished] = [createKeyPair("EdDSA"), createKeyPair("ES256"), createKeyPair("EdDSA")];
const OTHER_SECRET = [...SECRET].reverse().join("");
const withEdDsa = { AUTH_ALGORITHM: "EdDSA", AUTH_PRIVATE_KEY: eddsa.privatePem };
const withEs256 = { AUTH_ALGORITHM: "ES256", AUTH_PRIVATE_KEY: es256.privatePem };
const withSecret = { AUTH_SECRET_KEY: OTHER_SECRET };

await using resources = new AsyncDisposableStack();
const postgres = resources.use(await startPostgresServer());
const redis = resources.use(await startRedisServer());
const shared = { DATABASE_URL: await postgres.createDatabase(), REDIS_URL: redis.url };
const { slots, replaceAll, runSteps } = openCluster(resources, shared);
await replaceAll({ AUTH_SECRET_KEY: SECRET });
print(`${slots.length} replicas`);

const step = (name: string, keys: Variables) => ({ name, run: () => replaceAll(keys) });
const unpublishedKeys = { AUTH_PRIVATE_KEY: unpublished.privatePem, AUTH_SECRET_KEY_PREVIOUS: OTHER_SECRET };
const control = { ...withEdDsa, ...unpublishedKeys };
const firstKeys = { AUTH_SECRET_KEY: SECRET, AUTH_NEXT_PUBLIC_KEY: eddsa.publicPem };
const lastKeys = { ...withEs256, AUTH_SECRET_KEY_PREVIOUS: OTHER_SECRET };
await runSteps([
  step("HS256: publish the key of EdDSA", firstKeys),
  step("change to EdDSA", { ...withEdDsa, AUTH_SECRET_KEY_PREVIOUS: SECRET }),
  step("remove the secret, publish the next key", { ...withEdDsa, AUTH_NEXT_PUBLIC_KEY: es256.publicPem }),
  step("change to ES256", { ...withEs256, AUTH_PREVIOUS_PUBLIC_KEY: eddsa.publicPem }),
  step("remove the previous key, add a new secret", lastKeys),
  step("change back to HS256", { ...withSecret, AUTH_PREVIOUS_PUBLIC_KEY: es256.publicPem }),
  step("remove the previous key", withSecret),
  { ...step("control: change to a key that is not published", control), isControl: true },
]);
