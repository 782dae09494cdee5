/**
 * Verifies codes of second factors. Invariant: a code of the application is compared only after its attempt was counted; a recovery
 * code is deleted by the same statement that finds it.
 */
import type { FactorCipher } from "@latchkey/administration";
import type { AuthenticatedUser, Database } from "@latchkey/database";
import { type ErrorCode, ServiceError } from "../../errors.ts";
import type { FactorRejection } from "../../observability/audit.ts";
import type { RequestContext } from "../../request-context.ts";
import { normalizeCode } from "../../tokens/codes.ts";
import { recoveryDigestOf } from "./recovery-codes.ts";
import { findStep } from "./totp.ts";

interface VerifyCodeOptions extends Pick<Database, "factors"> {
  readonly cipher: FactorCipher;
  /** Whether users are notified of used recovery codes and of wrong codes. */
  readonly notifies: boolean;
}

/** The error of a wrong code: a login, or a request with a token. */
type Rejection = Extract<ErrorCode, "FACTOR_CODE_REJECTED" | "FACTOR_CODE_INCORRECT">;

/**
 * Returns whether the code was a recovery code.
 * @throws FACTOR_LOCKED, TOO_MANY_REQUESTS, or `rejection`, also if the factor was replaced or removed meanwhile
 */
export type VerifyCode = (
  user: AuthenticatedUser,
  code: string,
  rejection: Rejection,
  request: RequestContext,
) => Promise<{ readonly isRecovery: boolean }>;

const TOO_MANY = "too many wrong codes";

export const createCodeVerifier =
  ({ factors, cipher, notifies }: VerifyCodeOptions): VerifyCode =>
  async (user, code, rejection, { audit }) => {
    const { id: userId, email, factorId } = user;
    const reject = (reason: FactorRejection, stepsLate?: number): never => {
      audit("factor.rejected", email, userId, { reason, stepsLate });
      throw new ServiceError(rejection);
    };
    if (factorId === null) return reject("code");
    const owner = { userId, id: factorId };
    const typed = normalizeCode(code);
    const digest = recoveryDigestOf(typed);
    if (digest !== null) {
      const left = await factors.useRecoveryCode(owner, digest, { notifies });
      if (left === null) return reject("recovery_code");
      audit("factor.recovery_code_used", email, userId);
      return { isRecovery: true };
    }
    const attempt = await factors.countAttempt(owner);
    if (attempt.result === "locked") {
      audit("factor.locked", email, userId);
      throw new ServiceError("FACTOR_LOCKED");
    }
    if (attempt.result === "paused") {
      audit("factor.rejected", email, userId, { reason: "paused" });
      const { retryAfterSeconds } = attempt;
      throw new ServiceError("TOO_MANY_REQUESTS", { quota: TOO_MANY, retryAfterSeconds });
    }
    if (attempt.result === "missing") return reject("code");
    const { step, stepsLate } = findStep(cipher.decrypt(attempt.factor), typed, Date.now());
    const isAccepted = step !== null && (await factors.acceptStep(owner, step));
    if (isAccepted) return { isRecovery: false };
    if (notifies && attempt.notifies) await factors.notifyOfFailures(userId);
    return reject(step === null ? "code" : "used", stepsLate);
  };
