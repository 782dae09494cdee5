/**
 * The networks from which a user has lately logged in. From all others, `rate-limit/limits.ts` limits the logins per e-mail,
 * registered or not: an attempt is deducted before its derivation and never refunded, so parallel attempts gain nothing.
 */
import { isIP } from "node:net";
import { FAMILIAR_NETWORK_DAYS } from "@latchkey/contracts";
import type { Timestamp, User, UserRepository } from "@latchkey/database";
import { ServiceError } from "../../errors.ts";
import { LOGIN_ATTEMPTS } from "../../rate-limit/limits.ts";
import type { Store } from "../../rate-limit/store.ts";
import type { Digests } from "../../tokens/token-keys.ts";

export interface FamiliarNetworksOptions {
  readonly users: Pick<UserRepository, "storeNetwork">;
  readonly digests: Digests;
  readonly store: Store;
}

export type FamiliarNetworks = ReturnType<typeof createFamiliarNetworks>;

const DAY_MS = 24 * 60 * 60 * 1000;
const FAMILIAR_MS = FAMILIAR_NETWORK_DAYS * DAY_MS;
/**
 * Minimum time from the start of an attempt to its rejection. It hides that the lookup of a registered e-mail takes a
 * little longer. Attempts that are not rejected run the derivation, which takes much longer than both.
 */
const MIN_REJECTION_MS = 10;

export function createFamiliarNetworks({ users, digests, store }: FamiliarNetworksOptions) {
  const attempts = store.tokenBucket(LOGIN_ATTEMPTS);
  /** undefined: the network, neither an IPv4 address nor the first one of an IPv6 /64, is never familiar. */
  const digestOf = ({ email, network }: { email: string; network: string }): string | undefined =>
    isIP(network) === 0 ? undefined : digests.network(email, network);

  return {
    digestOf,
    /**
     * Starts an attempt, before the lookup of its user: the timer must end at the same time however long the lookup takes.
     * Returns the function that deducts it.
     */
    beginLogin(email: string) {
      const delay = Bun.sleep(MIN_REJECTION_MS);
      /**
       * @param networkSeenAt as found with `digestOf`
       * @throws TOO_MANY_REQUESTS if the network is unfamiliar and the e-mail has no attempt left
       */
      return async (networkSeenAt: Timestamp | null): Promise<void> => {
        const waitMs = ageMs(networkSeenAt) < FAMILIAR_MS ? 0 : await attempts.take(digests.email(email));
        if (waitMs === 0) return;
        await delay;
        const { rejection: quota } = LOGIN_ATTEMPTS;
        throw new ServiceError("TOO_MANY_REQUESTS", { quota, retryAfterSeconds: Math.ceil(waitMs / 1000) });
      };
    },
    /**
     * Makes the network of a successful login familiar, unless it has been stored within a day, or the token version has
     * changed since the user was read: that login used the previous password.
     */
    async store(user: User, network: string, networkSeenAt: Timestamp | null): Promise<void> {
      const digest = digestOf({ email: user.email, network });
      if (digest === undefined || ageMs(networkSeenAt) < DAY_MS) return;
      await users.storeNetwork(user.id, digest, user.tokenVersion);
    },
  };
}

const ageMs = (time: Timestamp | null): number => (time === null ? Infinity : Date.now() - Date.parse(time));
