/** Tests with a real Redis, and a way to let time pass in it for all keys of the service. */
import { test } from "bun:test";
import type { RedisClient } from "bun";

const isInstalled = Bun.which("redis-server") !== null;
if (!isInstalled) process.stderr.write("Tests with Redis are skipped: `redis-server` is not on the PATH.\n");

/** A `test` that is skipped if Redis is not installed; in CI it fails instead. */
export const redisTest = test.skipIf(!isInstalled && !process.env.CI);

/** Decreases the remaining lifetime of every key, and all times in the pages of buckets. */
const ADVANCE_SCRIPT = `
for _, key in ipairs(redis.call("KEYS", "*")) do
  redis.call("PEXPIRE", key, redis.call("PTTL", key) - ARGV[1])
end
for _, key in ipairs(redis.call("KEYS", "latchkey:budget:*")) do
  local page = redis.call("GET", key)
  local found = page:find("[^%z]")
  while found do
    local cell = math.floor((found - 1) / 6)
    redis.call("BITFIELD", key, "INCRBY", "u48", "#" .. cell, -ARGV[1])
    found = page:find("[^%z]", cell * 6 + 7)
  end
end`;

export const advanceRedis = async (client: RedisClient, milliseconds: number): Promise<void> =>
  void (await client.send("EVAL", [ADVANCE_SCRIPT, "0", String(milliseconds)]));
