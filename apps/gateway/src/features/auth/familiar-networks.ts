/**
 * The networks from which a user has recently logged in. Logins from all other networks are limited per e-mail, whether or not
 * the e-mail is registered (`LOGIN_ATTEMPTS`). An attempt is deducted before the derivation and never refunded, so parallel
 * attempts cannot exceed the limit.
 */
import { isIP } from "node:net";
import { FAMILIAR_NETWORK_DAYS } from "@latchkey/contracts";
import type { Timestamp, User, UserRepository } from "@latchkey/database";
import { type Digests, LOGIN_ATTEMPTS } from "@latchkey/limits";
import { ServiceError } from "../../errors.ts";
import type { Store } from "../../rate-limit/store.ts";

export interface FamiliarNetworksOptions {
  readonly users: Pick<UserRepository, "storeNetwork">;
  readonly digests: Digests;
  /** null: logins are not limited per e-mail. The networks only separate the budgets of mails. */
  readonly store: Store | null;
}

/** Returns undefined if `network` is not an IP address: such a network is never familiar. */
export type NetworkDigestOf = (client: {
  readonly email: string;
  readonly network: string;
}) => string | undefined;

export interface FamiliarNetworks {
  readonly networkDigestOf: NetworkDigestOf;
  /**
   * Starts an attempt. Call this function before the lookup of the user, so that the time of a rejection does not depend on
   * the lookup. Returns the function that deducts the attempt.
   */
  beginLogin(email: string): DeductAttempt;
  /**
   * Makes the network of a successful login familiar. Stores nothing if the network was stored less than a day ago. Stores
   * nothing if the token version has changed since `user` was read, because the login can have used a previous password.
   */
  store(user: User, network: string, networkSeenAt: Timestamp | null): Promise<void>;
}

/**
 * @param networkSeenAt when the network was last stored for the user; null if never
 * @throws TOO_MANY_REQUESTS if the network is unfamiliar and the e-mail has no attempt left
 */
type DeductAttempt = (networkSeenAt: Timestamp | null) => Promise<void>;

const DAY_MS = 24 * 60 * 60 * 1000;
const FAMILIAR_MS = FAMILIAR_NETWORK_DAYS * DAY_MS;
/**
 * Minimum time from the start of an attempt to its rejection. This time hides that the lookup of a registered e-mail takes a
 * little longer. Attempts that are not rejected run the derivation, which takes much longer.
 */
const MIN_REJECTION_MS = 10;

export function createFamiliarNetworks({ users, digests, store }: FamiliarNetworksOptions): FamiliarNetworks {
  const attempts = store?.tokenBucket(LOGIN_ATTEMPTS);
  const networkDigestOf: NetworkDigestOf = ({ email, network }) =>
    isIP(network) === 0 ? undefined : digests.network(email, network);

  return {
    networkDigestOf,
    beginLogin(email) {
      if (!attempts) return async () => {};
      const delay = Bun.sleep(MIN_REJECTION_MS);
      return async (networkSeenAt) => {
        const waitMs = ageMs(networkSeenAt) < FAMILIAR_MS ? 0 : await attempts.take(digests.email(email));
        if (waitMs === 0) return;
        await delay;
        const { rejection: quota } = LOGIN_ATTEMPTS;
        throw new ServiceError("TOO_MANY_REQUESTS", { quota, retryAfterSeconds: Math.ceil(waitMs / 1000) });
      };
    },
    async store(user, network, networkSeenAt) {
      const digest = networkDigestOf({ email: user.email, network });
      if (digest === undefined || ageMs(networkSeenAt) < DAY_MS) return;
      await users.storeNetwork(user.id, digest, user.tokenVersion);
    },
  };
}

const ageMs = (time: Timestamp | null): number => (time === null ? Infinity : Date.now() - Date.parse(time));
