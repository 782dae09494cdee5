/**
 * Second factors without HTTP: enrolment, logins, recovery codes and the end. Invariants: nothing is stored before an enrolment is
 * confirmed with a code of the application and, if mail is configured, with a code from the mailbox, because a reset keeps the factor;
 * each change of a factor ends all tokens of the user.
 */
import { randomBytes } from "node:crypto";
import type { FactorCipher } from "@latchkey/administration";
import type {
  CreateFactorRequest,
  FactorLoginRequest,
  FactorOptionsRequest,
  FactorProofRequest,
} from "@latchkey/contracts";
import {
  type AuthenticatedUser,
  type Database,
  type Factor,
  parseRecoveryCodes,
  type User,
} from "@latchkey/database";
import { ServiceError } from "../../errors.ts";
import type { LoginCommit, VerifiedLogin } from "../../login.ts";
import type { FactorRejection } from "../../observability/audit.ts";
import { type Owner, passwordGuard } from "../../owner.ts";
import { createAttemptLines } from "../../rate-limit/attempt-lines.ts";
import { CODE_ATTEMPTS } from "../../rate-limit/limits.ts";
import type { RequestContext } from "../../request-context.ts";
import { currentSeconds, type Principal, type Tokens } from "../../tokens/access-tokens.ts";
import { withSecondFactor } from "../../tokens/authentication-methods.ts";
import { normalizeCode } from "../../tokens/codes.ts";
import type { TokenKeys } from "../../tokens/token-keys.ts";
import { createRecoveryCodes } from "./recovery-codes.ts";
import { findStep, SECRET_BYTES, toBase32, totpUri } from "./totp.ts";
import { createCodeVerifier } from "./verify-code.ts";

interface SecondFactorOptions
  extends Pick<Database, "factors" | "users" | "outbox">,
    Pick<TokenKeys, "factorStates"> {
  readonly cipher: FactorCipher;
  /** The name that applications show beside the e-mail. */
  readonly issuer: string;
  readonly owner: Pick<Owner, "proveOwner" | "expectOwnMailbox" | "explainRejection">;
  readonly tokens: Pick<Tokens, "sign">;
  /** If true, an enrolment requires the mailbox, and users are notified of changes. */
  readonly sendsMail: boolean;
  /** Ends the count of wrong passwords. */
  readonly clearWrongPasswords: (user: User) => Promise<void>;
}

export interface SecondFactorService {
  /** @throws FACTOR_NOT_FOUND */
  read(principal: Principal): Promise<Factor & { readonly recoveryCodesLeft: number }>;
  /** @throws EMAIL_NOT_VERIFIED, or an error of `proveOwner` or of a code of the factor that is replaced */
  requestCreation(
    principal: Principal,
    body: FactorOptionsRequest,
    request: RequestContext,
  ): Promise<{ readonly secret: string; readonly uri: string; readonly state: string }>;
  /** Returns a token of the login, because all others end. @throws FACTOR_CODE_INVALID */
  create(
    principal: Principal,
    body: CreateFactorRequest,
    request: RequestContext,
  ): Promise<{ readonly recoveryCodes: string[]; readonly token: string }>;
  /** @throws LOGIN_REQUIRED if the state is not valid, or an error of a code */
  verifyLogin(body: FactorLoginRequest, request: RequestContext): Promise<VerifiedLogin>;
  /** @throws FACTOR_NOT_FOUND, or an error of `proveOwner` or of a code */
  replaceRecoveryCodes(
    principal: Principal,
    body: FactorProofRequest,
    request: RequestContext,
  ): Promise<string[]>;
  /** @throws FACTOR_NOT_FOUND, or an error of `proveOwner` or of a code */
  remove(principal: Principal, body: FactorProofRequest, request: RequestContext): Promise<void>;
}

/** The issue of a request without a code of the factor that is replaced, as the validator writes it. */
const MISSING_CODE = { loc: ["body", "code"], msg: "is required", type: "missing" };

export function createSecondFactor(options: SecondFactorOptions): SecondFactorService {
  const { factors, users, outbox, factorStates, cipher, issuer, tokens, clearWrongPasswords } = options;
  const { sendsMail: notifies } = options;
  const { proveOwner, expectOwnMailbox, explainRejection } = options.owner;
  const verifyCode = createCodeVerifier({ factors, cipher, notifies });

  /**
   * Proves the owner by the password and a code.
   * @param check throws before the code is used
   */
  const proveWithCode = async (
    principal: Principal,
    { code, current_password }: FactorProofRequest,
    request: RequestContext,
    check?: (user: AuthenticatedUser) => void,
  ) => {
    if (principal.user.factorId === null) throw new ServiceError("FACTOR_NOT_FOUND");
    const { user, condition } = await proveOwner(principal, current_password, request, { takesCode: true });
    check?.(user);
    await request.countAgainst("factorLogin");
    await verifyCode(user, code, "FACTOR_CODE_INCORRECT", request);
    return { user, condition };
  };

  // Of more attempts at the same time, the outbox would count and reject the further ones, too.
  const inTurn = createAttemptLines(CODE_ATTEMPTS);

  return {
    async read({ user }) {
      const factor = user.factorId === null ? null : await factors.find(user.id);
      if (!factor) throw new ServiceError("FACTOR_NOT_FOUND");
      return { ...factor, recoveryCodesLeft: parseRecoveryCodes(factor).length };
    },

    async requestCreation(principal, body, request) {
      const { code, current_password } = body;
      if (principal.user.factorId !== null && code === undefined)
        throw new ServiceError("INVALID_REQUEST", { issues: [MISSING_CODE] });
      const { user } =
        code === undefined || principal.user.factorId === null
          ? await proveOwner(principal, current_password, request)
          : await proveWithCode(principal, { ...body, code }, request, expectOwnMailbox);
      expectOwnMailbox(user);
      const secret = randomBytes(SECRET_BYTES);
      const { state, nonce } = factorStates.beginCreation(user, secret.toString("base64url"));
      if (notifies) await outbox.request("factor-code", user.email, { state: nonce });
      const text = toBase32(secret);
      return { secret: text, uri: totpUri(text, issuer, user.email), state };
    },

    async create({ user, token }, { state, code, email_code: emailCode = "" }, { audit }) {
      const reject = (reason: FactorRejection, stepsLate?: number): never => {
        audit("factor.rejected", user.email, user.id, { reason, stepsLate });
        throw new ServiceError("FACTOR_CODE_INVALID");
      };
      const stated = factorStates.verifyCreation(state, user) ?? reject("state");
      if (notifies) {
        const isCounted = await inTurn(stated.nonce, () =>
          outbox.countCodeAttempt("factor-code", user.id, stated.nonce, CODE_ATTEMPTS),
        );
        if (!isCounted || !factorStates.isEmailCode(emailCode, stated.nonce, user)) reject("email_code");
      }
      const secret = Buffer.from(stated.secret, "base64url");
      const { step, stepsLate } = findStep(secret, normalizeCode(code), Date.now());
      if (step === null) return reject("code", stepsLate);
      const id = Bun.randomUUIDv7();
      const { codes, stored: recoveryCodes } = createRecoveryCodes();
      const encrypted = cipher.encrypt(secret, { userId: user.id, id });
      const condition = { version: user.tokenVersion, exceptToken: null, password: passwordGuard(user) };
      const changed = await factors.create(
        { id, ...encrypted, lastStep: step, recoveryCodes },
        user,
        condition,
        { notifies, replaced: user.factorId },
      );
      if (!changed) return reject("state");
      audit("factor.created", user.email, user.id);
      const { auth_time = currentSeconds(), amr } = token.login;
      const methods = withSecondFactor(amr, false);
      const login = { auth_time, ...(methods && { amr: methods }), acr: "2fa" as const };
      return { recoveryCodes: codes, token: await tokens.sign(changed, login) };
    },

    async verifyLogin({ state, code }, request) {
      const changed = async (user?: User | null): Promise<never> => {
        request.audit("factor.rejected", user?.email ?? null, user?.id, { reason: "state" });
        throw new ServiceError("LOGIN_REQUIRED");
      };
      const stated = factorStates.verifyLogin(state) ?? (await changed());
      const user = (await users.findById(stated.userId)) ?? (await changed());
      if (user.factorId === null || !stated.isCurrent(user)) return changed(user);
      const { isRecovery } = await verifyCode(user, code, "FACTOR_CODE_REJECTED", request);
      const { provider, amr } = stated;
      const verifiesEmail = stated.verifiesEmail && !user.emailVerified;
      const commit: LoginCommit = {
        verifiesEmail,
        ...(verifiesEmail && { event: "email.verified" }),
        run: async () => {
          if (amr?.[0] === "pwd") await clearWrongPasswords(user);
          if (!verifiesEmail) return user;
          return (await users.verifyEmail(user)) ? { ...user, emailVerified: true } : null;
        },
      };
      const methods = withSecondFactor(amr, isRecovery);
      return { user, amr: methods, provider, isTwoFactor: true, commit, changed: () => changed(user) };
    },

    async replaceRecoveryCodes(principal, body, request) {
      const { user, condition } = await proveWithCode(principal, body, request);
      const { codes, stored } = createRecoveryCodes();
      const owner = { userId: user.id, id: user.factorId ?? "" };
      if (!(await factors.replaceRecoveryCodes(owner, stored, condition, { notifies })))
        return explainRejection(user.id, condition);
      request.audit("factor.recovery_codes_replaced", user.email, user.id);
      return codes;
    },

    async remove(principal, body, request) {
      const { user, condition } = await proveWithCode(principal, body, request);
      if (!(await factors.delete(user.id, { notifies, condition })))
        return explainRejection(user.id, condition);
      request.audit("factor.removed", user.email, user.id);
    },
  };
}
