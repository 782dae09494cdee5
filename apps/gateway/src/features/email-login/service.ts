/**
 * Logins with a code from a mail. A request only writes to the outbox, with the same statement for every e-mail. Invariant: each
 * attempt is counted before the code is compared, and never refunded, so parallel guesses cannot exceed the limits.
 */
import { isIP } from "node:net";
import { type EmailLoginRequest, FAMILIAR_NETWORK_DAYS } from "@latchkey/contracts";
import type { Database, User } from "@latchkey/database";
import { noPassword } from "@latchkey/hashing";
import { ServiceError } from "../../errors.ts";
import { type LoginSteps, passwordGuard } from "../../login-features.ts";
import { secondsUntil } from "../../rate-limit/clock.ts";
import { CODE_ATTEMPTS } from "../../rate-limit/limits.ts";
import type { Store } from "../../rate-limit/store.ts";
import type { RequestContext } from "../../request-context.ts";
import type { TokenKeys } from "../../tokens/token-keys.ts";

export interface EmailLoginOptions
  extends Pick<Database, "users" | "outbox">,
    Pick<TokenKeys, "loginCodes" | "digests"> {
  readonly store: Store;
  readonly steps: Pick<LoginSteps, "completeLogin">;
}

export interface EmailLogin {
  /** Returns the state of the code, also for an unknown e-mail. */
  begin(email: string, request: RequestContext): Promise<{ state: string }>;
  /**
   * Returns an access token. All credentials of a user whose e-mail was not verified end: somebody else can have registered it.
   * @throws LOGIN_CODE_INVALID, TOO_MANY_REQUESTS, INACTIVE_USER if other services verify tokens
   */
  login(body: EmailLoginRequest, request: RequestContext): Promise<string>;
}

const FAMILIAR_MS = FAMILIAR_NETWORK_DAYS * 24 * 60 * 60 * 1000;
const REJECTION = "too many codes for this e-mail";

export function createEmailLogin(options: EmailLoginOptions): EmailLogin {
  const { users, outbox, loginCodes, digests, store, steps } = options;
  const perState = store.fixedWindow(CODE_ATTEMPTS.perState);

  /** Counts an attempt from this network. @throws TOO_MANY_REQUESTS */
  const countAttempt = async (email: string, isFamiliar: boolean): Promise<void> => {
    const { perHour, perDay, perDayFamiliar } = CODE_ATTEMPTS;
    for (const limit of isFamiliar ? [perDayFamiliar] : [perHour, perDay]) {
      const { count, resetsAt } = await store.fixedWindow(limit).increment(digests.email(email));
      if (count <= limit.capacity) continue;
      const retryAfterSeconds = secondsUntil(resetsAt);
      throw new ServiceError("TOO_MANY_REQUESTS", { quota: REJECTION, retryAfterSeconds });
    }
  };

  return {
    async begin(email, { audit }) {
      const { state, nonce } = loginCodes.begin(email);
      await outbox.request("login-code", email, { state: nonce });
      audit("login_code.requested", email);
      return { state };
    },

    async login({ state, code }, request) {
      const { audit, network } = request;
      const reject = (email: string | null, user?: User | null): never => {
        audit("login_code.rejected", email, user?.id);
        throw new ServiceError("LOGIN_CODE_INVALID");
      };
      const stated = loginCodes.verifyState(state);
      if (!stated) return reject(null);
      const { email, nonce } = stated;
      const { count } = await perState.increment(nonce);
      if (count > CODE_ATTEMPTS.perState.capacity) return reject(email);
      const networkDigest = isIP(network) === 0 ? undefined : digests.network(email, network);
      const user = await users.findByEmail(email, networkDigest);
      const seenAt = user?.networkSeenAt ?? null;
      await countAttempt(email, seenAt !== null && Date.now() - Date.parse(seenAt) < FAMILIAR_MS);
      const isCode = loginCodes.isCode(code.replaceAll(/\s/g, ""), nonce, user);
      if (!user || !isCode) return reject(email, user);
      const isTakeover = user.isActive && !user.emailVerified;
      const used = await users.useLoginCode(user, { hash: passwordGuard(user), password: noPassword() });
      if (!used) return reject(email, user);
      const event = isTakeover ? "user.taken_over" : undefined;
      return steps.completeLogin(used, { amr: ["otp"], event, rejection: "LOGIN_CODE_INVALID" }, request);
    },
  };
}
