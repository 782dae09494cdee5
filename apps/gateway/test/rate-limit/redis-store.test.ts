/** The store in a real Redis: shared by replicas, replaced by their own memory while Redis is unreachable. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { ROOT } from "@latchkey/testing/repository";
import { freePort } from "@latchkey/testing/server-process";
import { RedisClient } from "bun";
import { describeRedisFailure } from "../../src/rate-limit/redis-errors.ts";
import { openRedisStore, type RedisStore, type RedisStoreOptions } from "../../src/rate-limit/redis-store.ts";
import { advanceRedis, redisTest } from "../support/redis.ts";

const limit = { name: "login", windowMs: 60_000 };
const four = { name: "login", capacity: 4, refillMs: 60_000 };
/** Instead of ten seconds. */
const STABLE_MS = 300;
const SHARED = "rate limits are shared through Redis";
const UNREACHABLE = "Redis is unreachable (ECONNREFUSED): rate limits are counted in this process";
const RESET = UNREACHABLE.replace("REFUSED", "RESET");
const TIMEOUT =
  "Redis is unreachable (Redis did not respond in time): rate limits are counted in this process";

/** Resolves when `store` is connected. Each iteration is a round trip, so the loop never spins. */
async function untilConnected(store: RedisStore): Promise<void> {
  const other = store.fixedWindow({ name: "other", windowMs: 60_000 });
  while (!store.isConnected()) {
    await other.increment("other");
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function startReplica(url: string, options: Partial<RedisStoreOptions> = {}) {
  const messages: string[] = [];
  const write = (message: string) => messages.push(message);
  const store = await openRedisStore({
    url,
    logger: { info: write, warn: write },
    stableMs: STABLE_MS,
    ...options,
  });
  const untilShared = async () => {
    while (!store.isShared()) await Bun.sleep(10);
  };
  return { store, messages, untilShared, [Symbol.asyncDispose]: store.close };
}

/** A Redis server with a replica of the service, and an operator's client. */
async function start(options?: Partial<RedisStoreOptions>) {
  const stack = new AsyncDisposableStack();
  const redis = stack.use(await startRedisServer());
  const { store, messages, untilShared } = stack.use(await startReplica(redis.url, options));
  const operator = stack.adopt(new RedisClient(redis.url), (client) => client.close());
  return { redis, store, messages, untilShared, operator, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

redisTest(
  "a Redis that was demoted is named by its error, and an eviction policy that forgets counts is a warning",
  async () => {
    await using one = await start();
    await one.untilShared();
    await one.operator.send("CONFIG", ["SET", "maxmemory-policy", "allkeys-lru"]);
    await one.operator.send("REPLICAOF", ["127.0.0.1", "1"]);
    const login = one.store.fixedWindow(limit);
    expect(await login.increment("a")).toMatchObject({ count: 1 });
    while (one.messages.length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(one.messages[1]).toStartWith("Redis is unreachable (READONLY ");
    await one.operator.send("REPLICAOF", ["NO", "ONE"]);
    await one.untilShared();
    expect(one.messages.filter((message) => /maxmemory-policy allkeys-lru/.test(message))).toHaveLength(1);
  },
);

redisTest(
  "the permissions in the runbook are enough; without INFO, an eviction policy is no warning",
  async () => {
    const runbook = await Bun.file(join(ROOT, "docs/operations.md")).text();
    const [, permissions = ""] = /the Redis user needs `([^`]+)`/.exec(runbook) ?? [];
    const user = ["--user", "limited", "on", ">pw", ...permissions.split(/\s+/)];
    const args = [...user, "--maxmemory-policy", "allkeys-lru"];
    await using redis = await startRedisServer(undefined, { args });
    await using replica = await startReplica(redis.url.replace("//", "//limited:pw@"));
    await replica.untilShared();
    expect(replica.messages).toEqual([SHARED]);
  },
);

redisTest("replicas share buckets, and a page of them exists until they are full again", async () => {
  await using one = await start();
  await using two = await startReplica(one.redis.url);
  const buckets = [one.store.tokenBucket(four), two.store.tokenBucket(four)] as const;
  const takes = Array.from({ length: 12 }, async (_, index) => buckets[index % 2 ? 1 : 0].take("0123abcd"));
  expect((await Promise.all(takes)).filter((waitMs) => waitMs === 0)).toHaveLength(four.capacity);
  // The page of the check at the start exists for a millisecond.
  const pages = (await one.operator.keys("latchkey:budget:*")).filter((key) => !key.includes(":check:"));
  expect(pages).toEqual(["latchkey:budget:login:01"]);
  const fullMs = four.capacity * four.refillMs;
  expect(await one.operator.pttl("latchkey:budget:login:01")).toBeWithin(fullMs - 5_000, fullMs + 1);
});

redisTest("an attempt of a key whose bucket shares a cell with an empty one refills nothing", async () => {
  await using replica = await start({ commandTimeoutMs: 60_000 });
  const bucket = replica.store.tokenBucket({ ...four, capacity: 2 });
  // Of one page. The others use 5 % of its cells: about five of the 50 buckets share one.
  const take = (name: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => bucket.take(`00 ${name} ${index}`)));
  for (let attempt = 0; attempt < 2; attempt++) await take("victim", 50);
  await take("other", 200);
  expect((await take("victim", 50)).filter((waitMs) => waitMs === 0)).toEqual([]);
});

redisTest(
  "after one attempt each of 2,000 keys of one page, hardly any other key has lost both of its attempts",
  async () => {
    await using replica = await start({ commandTimeoutMs: 60_000 });
    const bucket = replica.store.tokenBucket({ ...four, capacity: 2 });
    const take = (name: string, count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => bucket.take(`00 ${name} ${index}`)));
    await take("other", 2_000);
    // If each attempt counted in both of its cells, about 8 of these would be empty.
    expect((await take("new", 1_000)).filter((waitMs) => waitMs > 0).length).toBeLessThan(3);
  },
);

redisTest("buckets of any number of e-mails have 256 keys of 48 KiB at most", async () => {
  await using replica = await start({ commandTimeoutMs: 60_000 });
  const bucket = replica.store.tokenBucket(four);
  const digestOf = (text: string) => new Bun.CryptoHasher("md5").update(text).digest("hex");
  const digests = Array.from({ length: 5_000 }, (_, index) => digestOf(`${index}@example.org`));
  await Promise.all(digests.map((digest) => bucket.take(digest)));
  const pages = await replica.operator.keys("latchkey:budget:*");
  expect(pages).toHaveLength(256);
  for (const page of pages) expect(await replica.operator.strlen(page)).toBeLessThanOrEqual(48 * 1024);
});

test("a server that sends nothing in the TLS handshake is reported after two seconds", async () => {
  using silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const url = `rediss://127.0.0.1:${silent.port}`;
  const failure = await describeRedisFailure({ code: "ERR_REDIS_CONNECTION_CLOSED" }, url);
  expect(failure).toEqual({ reason: "ETIMEDOUT", isRejection: false });
});

redisTest("opening waits for a Redis that starts within the timeout", async () => {
  await using redis = await startRedisServer();
  await redis.kill();
  const opening = startReplica(redis.url, { startTimeoutMs: 30_000 });
  await redis.start();
  await using replica = await opening;
  expect(replica.store.isConnected()).toBe(true);
  await replica.untilShared();
  expect(replica.messages.at(-1)).toBe(SHARED);
});

redisTest(
  "when Redis is killed, the replica counts in memory at once, warns once, and reconnects later; an increment is taken back where it was counted",
  async () => {
    await using replica = await start();
    const { redis, store, messages, untilShared } = replica;
    await untilShared();
    const window = store.fixedWindow(limit);
    const bucket = store.tokenBucket(four);
    const increment = async () => (await window.increment("a")).count;
    const countAll = async () => {
      for (const count of [1, 2, 3]) expect(await increment()).toBe(count);
      for (let attempt = 1; attempt <= four.capacity; attempt++) expect(await bucket.take("a")).toBe(0);
      expect(await bucket.take("a")).toBeGreaterThan(0);
      return await window.increment("a");
    };
    const inRedis = await countAll();
    await redis.kill();
    const inMemory = await countAll();
    expect([store.isConnected(), store.isShared()]).toEqual([false, false]);
    // A process that is being killed can accept a last connection and reset it.
    const logged = () => messages.filter((message) => message !== RESET);
    while (!messages.includes(UNREACHABLE)) await Bun.sleep(5);
    expect(logged()).toEqual([SHARED, UNREACHABLE]);
    await inRedis.undo();
    expect(await increment()).toBe(5);
    await redis.start();
    await untilConnected(store);
    expect(await increment()).toBe(1);
    await untilShared();
    expect(logged()).toEqual([SHARED, UNREACHABLE, SHARED]);
    await inMemory.undo();
    expect(await increment()).toBe(2);
    // Also what was counted in memory, for the next outage.
    await window.clear("a");
    await redis.kill();
    expect(await increment()).toBe(1);
  },
);

redisTest("a stall of this process that is longer than the timeout is not an outage of Redis", async () => {
  await using replica = await start();
  const window = replica.store.fixedWindow(limit);
  await replica.untilShared();
  await window.increment("a");
  for (const count of [2, 3]) {
    const increment = window.increment("a");
    Bun.sleepSync(300);
    expect((await increment).count).toBe(count);
  }
  expect(replica.messages).toEqual([SHARED]);
});

redisTest(
  "when Redis is frozen, one request waits for about 150 ms and the following do not wait",
  async () => {
    await using replica = await start();
    const window = replica.store.fixedWindow(limit);
    await replica.untilShared();
    {
      using _frozen = replica.redis.freeze();
      // Ticks instead of milliseconds, because a busy machine delays both.
      let ticks = 0;
      const timer = setInterval(() => ticks++, 50);
      expect((await window.increment("a")).count).toBe(1);
      clearInterval(timer);
      expect(ticks).toBeWithin(2, 5);
      expect(window.increment("a")).not.toBeInstanceOf(Promise);
      expect(replica.store.isConnected()).toBe(false);
    }
    await replica.untilShared();
    expect(replica.messages[1]).toBe(TIMEOUT);
    expect(replica.messages.at(-1)).toBe(SHARED);
  },
);

test("opening with an unreachable Redis ends after the timeout, warns once and counts in memory", async () => {
  await using replica = await startReplica(`redis://127.0.0.1:${freePort()}`, { startTimeoutMs: 200 });
  const window = replica.store.fixedWindow(limit);
  for (let count = 1; count <= 50; count += 1) {
    expect((await window.increment("a")).count).toBe(count);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(replica.store.isConnected()).toBe(false);
  expect(replica.messages).toEqual([UNREACHABLE]);
});

redisTest(
  "after the clock of Redis was set back, no window is longer than its length, and no bucket is empty for longer",
  async () => {
    await using replica = await start();
    const window = replica.store.fixedWindow(limit);
    const bucket = replica.store.tokenBucket(four);
    const hour = 60 * 60_000;
    for (const setBackMs of [hour, 30 * hour]) {
      expect(await bucket.take("0123abcd")).toBe(0);
      for (let count = 0; count < 10; count++) await window.increment("a");
      await advanceRedis(replica.operator, -setBackMs);
      const { count, resetsAt } = await window.increment("a");
      expect(count).toBe(1);
      expect(resetsAt - performance.timeOrigin - performance.now()).toBeLessThanOrEqual(limit.windowMs);
      expect((await window.increment("a")).count).toBe(2);
      for (let attempt = 1; attempt <= four.capacity; attempt++)
        expect(await bucket.take("0123abcd")).toBe(0);
      expect(await bucket.take("0123abcd")).toBeLessThanOrEqual(four.refillMs);
      await advanceRedis(replica.operator, four.capacity * four.refillMs);
    }
  },
);

redisTest.each([
  [
    "a user without TIME",
    ["--user", "limited", "on", ">pw", "~*", "+@read", "+@write", "+@scripting", "+@connection"],
    "limited:pw@",
    /^ERR The user executing the script can't run this command|^NOPERM /,
  ],
  [
    "a user without EVAL",
    ["--user", "limited", "on", ">pw", "~*", "+@connection"],
    "limited:pw@",
    /^NOPERM .*'eval'/,
  ],
  [
    "a user without access to its keys",
    ["--user", "limited", "on", ">pw", "~other:*", "+@all"],
    "limited:pw@",
    /^NOPERM .* keys/,
  ],
  ["a wrong password", ["--user", "limited", "on", ">pw", "~*", "+@all"], "limited:hunter2@", /^WRONGPASS /],
  ["no password", ["--requirepass", "pw"], "", /^NOAUTH /],
  [
    "a node of a cluster",
    ["--cluster-enabled", "yes", "--cluster-config-file", ""],
    "",
    /^CLUSTERDOWN |^MOVED /,
  ],
] as const)(
  "opening with %s fails with the error of Redis and exit code 65",
  async (_name, args, login, reason) => {
    await using folder = await openFolder();
    const options = args.map((arg) => (arg === "" ? join(folder.path, "nodes.conf") : arg));
    await using redis = await startRedisServer(undefined, { args: options });
    const opening = openRedisStore({
      url: redis.url.replace("//", `//${login}`),
      logger: { info() {}, warn() {} },
      startTimeoutMs: 30_000,
    });
    const error = await opening.then(
      () => null,
      (reason) => reason,
    );
    expect(error).toMatchObject({ exitCode: 65 });
    expect(error.message.replace("REDIS_URL: Redis rejects what rate limits need: ", "")).toMatch(reason);
    expect(error.message).not.toContain("hunter2");
  },
);

redisTest(
  "a permission that is removed later is logged once with its reason, while every request is counted in memory",
  async () => {
    await using replica = await start();
    const { store, operator, messages } = replica;
    const window = store.fixedWindow(limit);
    await replica.untilShared();
    await operator.send("ACL", ["SETUSER", "default", "-incr"]);
    for (let count = 1; count <= 50; count++) {
      expect((await window.increment(`a${count}`)).count).toBe(1);
      await Bun.sleep(5);
    }
    expect(messages).toEqual([
      SHARED,
      expect.stringMatching(/^Redis rejects rate limits \((ERR|NOPERM) .*\): rate limits are counted/),
    ]);
    expect(store.isShared()).toBe(false);
    await operator.send("ACL", ["SETUSER", "default", "+incr"]);
    await replica.untilShared();
    expect(messages.at(-1)).toBe(SHARED);
  },
);
