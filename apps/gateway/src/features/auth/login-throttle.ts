/**
 * Limits the logins per e-mail, registered or not, from networks from which its user has not logged in lately. An attempt
 * is deducted before its derivation and never refunded, so parallel attempts gain nothing.
 */
import { isIP } from "node:net";
import { FAMILIAR_NETWORK_DAYS } from "@latchkey/contracts";
import type { Timestamp, User, UserRepository } from "@latchkey/database";
import { ServiceError } from "../../errors.ts";
import type { CreateBudgetStore } from "../../rate-limit/store.ts";
import type { Digests } from "../../tokens/token-keys.ts";

export interface LoginThrottleOptions {
  readonly users: Pick<UserRepository, "storeNetwork">;
  readonly digests: Digests;
  readonly createBudgetStore: CreateBudgetStore;
  /**
   * Minimum time from the start of an attempt to its rejection. It hides that the lookup of a registered e-mail takes a
   * little longer. Attempts that are not rejected run the derivation, which takes much longer than both. @default 10
   */
  readonly rejectionDelayMs?: number | undefined;
}

interface Client {
  readonly email: string;
  /** An IPv4 address or the first address of an IPv6 /64; anything else is never familiar. */
  readonly network: string;
}

export type LoginThrottle = ReturnType<typeof createLoginThrottle>;

const DAY_MS = 24 * 60 * 60 * 1000;
const FAMILIAR_MS = FAMILIAR_NETWORK_DAYS * DAY_MS;

/** At most 106 attempts in a day. */
const BUDGET = { name: "login", attempts: 10, refillMs: 15 * 60 * 1000 } as const;

export function createLoginThrottle({
  users,
  digests,
  createBudgetStore,
  rejectionDelayMs = 10,
}: LoginThrottleOptions) {
  const budgets = createBudgetStore(BUDGET);
  const networkDigest = ({ email, network }: Client): string | undefined =>
    isIP(network) === 0 ? undefined : digests.network(email, network);

  return {
    /** undefined: the network is never familiar. */
    networkDigest,
    begin({ email, network }: Client) {
      const rejection = Promise.withResolvers<void>();
      const timer = setTimeout(rejection.resolve, rejectionDelayMs);
      return {
        /** Find the user with it, and pass the resulting `networkSeenAt` to `deduct`. */
        networkDigest: networkDigest({ email, network }),
        /** @throws TOO_MANY_REQUESTS if the network is unfamiliar and the budget of the e-mail is empty */
        async deduct(networkSeenAt: Timestamp | null): Promise<void> {
          const waitMs = ageMs(networkSeenAt) < FAMILIAR_MS ? 0 : await budgets.take(digests.email(email));
          if (waitMs === 0) return clearTimeout(timer);
          await rejection.promise;
          const quota = "too many attempts for this e-mail";
          throw new ServiceError("TOO_MANY_REQUESTS", { quota, retryAfterSeconds: Math.ceil(waitMs / 1000) });
        },
      };
    },
    /**
     * Makes the network of a successful login familiar, unless it has been stored within a day, or the token version has
     * changed since the user was read: that login used the previous password.
     */
    async storeNetwork(user: User, network: string, networkSeenAt: Timestamp | null): Promise<void> {
      const digest = networkDigest({ email: user.email, network });
      if (digest === undefined || ageMs(networkSeenAt) < DAY_MS) return;
      await users.storeNetwork(user.id, digest, user.tokenVersion);
    },
  };
}

const ageMs = (time: Timestamp | null): number => (time === null ? Infinity : Date.now() - Date.parse(time));
