/**
 * The keys of programs that administer the service. Invariants: the time of a comparison does not depend on the keys, and a right
 * key is never limited, however many wrong ones its client address has sent.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { ApiKey } from "@latchkey/config";
import { ServiceError } from "../../errors.ts";
import { secondsUntil } from "../../rate-limit/clock.ts";
import { WRONG_API_KEYS } from "../../rate-limit/limits.ts";
import type { Store } from "../../rate-limit/store.ts";

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

export interface RejectedKey {
  readonly error: ServiceError;
  /** Whether this is the first wrong key of its client in this minute. */
  readonly isFirst: boolean;
}

export interface ApiKeys {
  /** Returns the name of the key, or null. Compares all keys. */
  findName(key: string): string | null;
  /** Counts a wrong key, and returns the error that the client receives. */
  reject(client: string): Promise<RejectedKey>;
}

export function createApiKeys(keys: readonly ApiKey[], store: Store): ApiKeys {
  const digests = keys.map(({ name, key }) => ({ name, digest: digestOf(key) }));
  const wrongKeys = store.fixedWindow(WRONG_API_KEYS);

  return {
    findName(key) {
      const given = digestOf(key);
      let found: string | null = null;
      for (const { name, digest } of digests) if (timingSafeEqual(digest, given)) found ??= name;
      return found;
    },
    async reject(client) {
      const { count, resetsAt } = await wrongKeys.increment(client);
      const { rejection: quota, capacity } = WRONG_API_KEYS;
      const retryAfterSeconds = secondsUntil(resetsAt);
      const error =
        count > capacity
          ? new ServiceError("TOO_MANY_REQUESTS", { quota, retryAfterSeconds })
          : new ServiceError("INVALID_API_KEY");
      return { error, isFirst: count === 1 };
    },
  };
}
