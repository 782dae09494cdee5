/**
 * Logins with a code from a mail. A request only writes to the outbox, with the same statement for every e-mail. Invariants: a code
 * is valid only while the outbox has its sent mail. The mail counts each attempt before the code is compared, and never refunds it,
 * so parallel guesses cannot exceed the limit, and nobody can spend the attempts of another state.
 */
import type { EmailLoginRequest } from "@latchkey/contracts";
import { type Database, noPassword, type User } from "@latchkey/database";
import { ServiceError } from "../../errors.ts";
import type { VerifiedLogin } from "../../login.ts";
import { passwordGuard } from "../../owner.ts";
import { createAttemptLines } from "../../rate-limit/attempt-lines.ts";
import { CODE_ATTEMPTS } from "../../rate-limit/limits.ts";
import type { RequestContext } from "../../request-context.ts";
import type { TokenKeys } from "../../tokens/token-keys.ts";
import type { FeatureResources } from "../optional-feature.ts";

/**
 * Minimum time from the start of an attempt to its rejection. It hides that an attempt takes a little longer (0.08 ms) if a user has
 * the e-mail, and its mail was sent: the user is read, and the row of the mail is written.
 */
const MIN_REJECTION_MS = 50;

export interface EmailLoginOptions
  extends Pick<Database, "users" | "factors" | "outbox">,
    Pick<TokenKeys, "loginCodes">,
    Pick<FeatureResources, "networkDigestOf"> {}

export interface EmailLogin {
  /** Returns the state of the code, also for an unknown e-mail. */
  begin(email: string, request: RequestContext): Promise<{ state: string }>;
  /**
   * Uses the code. The login ends all credentials of a user whose e-mail was not verified: somebody else can have registered it.
   * @throws LOGIN_CODE_INVALID
   */
  verifyLogin(body: EmailLoginRequest, request: RequestContext): Promise<VerifiedLogin>;
}

export function createEmailLogin(options: EmailLoginOptions): EmailLogin {
  const { users, factors, outbox, loginCodes, networkDigestOf } = options;
  // Of more attempts at the same time, the outbox would count and reject the further ones, too.
  const inTurn = createAttemptLines(CODE_ATTEMPTS);

  return {
    async begin(email, { audit, network }) {
      const { state, nonce } = loginCodes.begin(email);
      const networkDigest = networkDigestOf({ email, network });
      await outbox.request("login-code", email, { state: nonce, networkDigest });
      audit("login_code.requested", email);
      return { state };
    },

    async verifyLogin({ state, code }, { audit }) {
      const delay = Bun.sleep(MIN_REJECTION_MS);
      const reject = async (email: string | null, user?: User | null): Promise<never> => {
        await delay;
        audit("login_code.rejected", email, user?.id);
        throw new ServiceError("LOGIN_CODE_INVALID");
      };
      const stated = loginCodes.verifyState(state);
      if (!stated) return reject(null);
      const { email, nonce } = stated;
      const user = await users.findByEmail(email);
      const isCounted = await inTurn(nonce, () =>
        outbox.countCodeAttempt("login-code", user?.id ?? 0, nonce, CODE_ATTEMPTS),
      );
      // Compared also without a mail, for equal timing.
      const isCode = loginCodes.isCode(code, nonce, user);
      if (!user || !isCounted || !isCode) return reject(email, user);
      const used = await users.useLoginCode(user, passwordGuard(user));
      if (!used) return reject(email, user);
      const takeover = {
        verifiesEmail: true,
        endsFactor: true,
        event: "user.taken_over" as const,
        run: () => users.takeOver(used, passwordGuard(used), noPassword()),
      };
      // The second factor is asked for, so nothing ends. The code proved the mailbox.
      const verification = { verifiesEmail: true, run: async () => used };
      const isUnverified = used.isActive && !used.emailVerified;
      const commit = isUnverified ? ((await factors.protects(used)) ? verification : takeover) : undefined;
      return { user: used, amr: ["otp"], commit, changed: () => reject(email, used) };
    },
  };
}
