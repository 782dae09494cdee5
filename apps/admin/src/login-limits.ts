/** Reads the counters of the service about a user from Redis, and counts nothing. Counters in a process are not visible here. */
import type { LoginLimits } from "@latchkey/administration";
import { describeError } from "@latchkey/cli";
import type { Values } from "@latchkey/config";
import { type User, withTimeout } from "@latchkey/database";
import {
  createDigests,
  LOGIN_ATTEMPTS,
  type RedisCommand,
  readBucketCommand,
  readWindowCommand,
  toEval,
  toKeyMaterial,
  WRONG_PASSWORDS,
  wrongPasswordKey,
} from "@latchkey/limits";
import { RedisClient } from "bun";

type LimitValues = Pick<Values, "AUTH_PRIVATE_KEY" | "AUTH_SECRET_KEY" | "RATE_LIMIT_ENABLED" | "REDIS_URL">;

const TIMEOUT_MS = 2000;

const IN_MEMORY =
  "They are counted in the memory of each replica, which only its GET /admin/users/ID/explanation reads.";

export async function readLoginLimits(user: User, values: LimitValues): Promise<LoginLimits> {
  const { REDIS_URL: url, AUTH_PRIVATE_KEY: privateKey, AUTH_SECRET_KEY: secretKey } = values;
  if (!values.RATE_LIMIT_ENABLED) return { state: "off" };
  if (url === null) return { state: "unknown", reason: IN_MEMORY };
  const material = privateKey ? toKeyMaterial(privateKey.pem) : secretKey;
  if (material === null)
    return { state: "unknown", reason: "To read them, set the signing key of the service." };
  const client = new RedisClient(url, { autoReconnect: false, connectionTimeout: TIMEOUT_MS });
  const evaluate = async (command: RedisCommand) =>
    [await client.send("EVAL", toEval(command))].flat().map(Number);
  const read = async (): Promise<LoginLimits> => {
    await client.connect();
    const email = createDigests(material).email(user.email);
    const [attemptMs = 0] = await evaluate(readBucketCommand(LOGIN_ATTEMPTS, email));
    const wrong = readWindowCommand(WRONG_PASSWORDS, wrongPasswordKey(user));
    const [count = 0, remainingMs = 0] = await evaluate(wrong);
    return { state: "read", counters: "Redis", attemptMs, wrongPasswords: { count, remainingMs } };
  };
  try {
    return await withTimeout(read(), TIMEOUT_MS, () => new Error("no response"));
  } catch (error) {
    return { state: "unknown", reason: `Redis cannot be read (${describeError(error)}).` };
  } finally {
    client.close();
  }
}
