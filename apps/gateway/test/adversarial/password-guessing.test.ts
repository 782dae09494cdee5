/** Very many addresses guess the password of one user for a simulated day, while the user logs in from a familiar network. */
import { describe, expect, test } from "bun:test";
import type { Hasher } from "@latchkey/hashing";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { RedisClient } from "bun";
import pino from "pino";
import { createMemoryBudgetStore } from "../../src/rate-limit/memory-budget-store.ts";
import { createMemoryStore } from "../../src/rate-limit/memory-store.ts";
import { openRedisStore } from "../../src/rate-limit/redis-store.ts";
import type { CreateBudgetStore, CreateStore } from "../../src/rate-limit/store.ts";
import { createClock } from "../support/clock.ts";
import { advanceRedis } from "../support/redis-clock.ts";
import { openLibsqlFile, type Service, startService } from "../support/service.ts";

const ADDRESSES = 2_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_GUESSES = 110;
const OWNER_ADDRESS = "192.0.2.1";
const available = Bun.which("redis-server") !== null;
if (!available)
  process.stderr.write("password-guessing.test.ts: skipped in part, because redis-server is not installed\n");

/** The stores of the gateways and a clock that changes only through `advance`. */
interface Backend extends AsyncDisposable {
  readonly stores: readonly { createStore: CreateStore; createBudgetStore: CreateBudgetStore }[];
  advance(milliseconds: number): Promise<void>;
}

async function openMemory(): Promise<Backend> {
  const { now, advance } = createClock();
  const createStore: CreateStore = ({ windowMs }) => createMemoryStore({ windowMs, now });
  const createBudgetStore: CreateBudgetStore = (budget) => createMemoryBudgetStore({ ...budget, now });
  return {
    stores: [{ createStore, createBudgetStore }],
    advance: async (milliseconds) => advance(milliseconds),
    [Symbol.asyncDispose]: async () => {},
  };
}

async function openRedis(): Promise<Backend> {
  await using stack = new AsyncDisposableStack();
  const redis = await startRedisServer();
  if (redis === null) throw new Error("redis-server is not installed");
  stack.use(redis);
  // Without a timeout, because a gateway that counted in memory meanwhile would allow more.
  const logger = pino({ enabled: false });
  const open = async () =>
    stack.use(await openRedisStore({ url: redis.url, logger, commandTimeoutMs: 60_000 }));
  const stores = [await open(), await open()];
  const operator = stack.adopt(new RedisClient(redis.url), (client) => client.close());
  const moved = stack.move();
  return {
    stores: stores.map(({ create, createBudgets }) => ({
      createStore: create,
      createBudgetStore: createBudgets,
    })),
    advance: (milliseconds) => advanceRedis(operator, milliseconds),
    async [Symbol.asyncDispose]() {
      expect(stores.every((store) => store.isConnected())).toBe(true);
      await moved.disposeAsync();
    },
  };
}

/** Each address is in a different /64. */
const addressOf = (index: number): string => `2001:db8:${index.toString(16)}::1`;

async function logIn(service: Service | undefined, address: string, body: object): Promise<number> {
  const response = await fetch(`${service?.url}/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": address },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}

const SIMULTANEOUS = 20;
const BATCHES = ADDRESSES / SIMULTANEOUS;

describe.concurrent.each([
  ["in memory", openMemory, true],
  ["in Redis, with two gateways", openRedis, available],
] as const)("%s", (_name, open, isAvailable) => {
  test.skipIf(!isAvailable)(
    "2,000 addresses that guess in a day reach at most 110 derivations, and the owner always logs in",
    async () => {
      await using stack = new AsyncDisposableStack();
      const backend = stack.use(await open());
      const database = stack.use(await openLibsqlFile());
      let guesses = 0;
      const wrapHasher = (hasher: Hasher): Hasher => ({
        ...hasher,
        verify(password, stored, options) {
          if (password.startsWith("guess")) guesses += 1;
          return hasher.verify(password, stored, options);
        },
      });
      const services: Service[] = [];
      for (const stores of backend.stores) {
        const shared = { ...database, [Symbol.asyncDispose]: async () => {} };
        const env = { RATE_LIMIT_ENABLED: "true", TRUST_PROXY: "1", LOG_LEVEL: "warn" };
        services.push(
          stack.use(
            await startService({
              ...stores,
              env,
              wrapHasher,
              rejectionDelayMs: 0,
              openDatabase: async () => shared,
            }),
          ),
        );
      }
      const owner = { email: "owner@example.org", username: "owner", password: "correct horse battery" };
      await services[0]?.call("POST", "/auth/register", {
        body: owner,
        headers: { "x-forwarded-for": OWNER_ADDRESS },
      });

      const statuses = new Map<number, number>();
      for (let batch = 0; batch < BATCHES; batch++) {
        const logins = Array.from({ length: SIMULTANEOUS }, (_, index) => {
          const guess = batch * SIMULTANEOUS + index;
          const body = { email: owner.email, password: `guess ${guess}` };
          return logIn(services[guess % services.length], addressOf(guess), body);
        });
        for (const status of await Promise.all(logins)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
        expect(await logIn(services[batch % services.length], OWNER_ADDRESS, owner)).toBe(200);
        await backend.advance(DAY_MS / BATCHES);
      }
      expect(guesses).toBeWithin(100, MAX_GUESSES + 1);
      expect(statuses).toEqual(
        new Map([
          [401, guesses],
          [429, ADDRESSES - guesses],
        ]),
      );
    },
    120_000,
  );
});
