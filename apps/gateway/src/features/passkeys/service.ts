/**
 * Passkeys without HTTP: enrolment, management and logins. The client returns each challenge signed, as the `state`.
 * The database enforces that each challenge is used only once, across all replicas.
 */
import { createHash, randomBytes } from "node:crypto";
import type { CreatePasskeyRequest, PasskeyLoginRequest, RemovalRequest } from "@latchkey/contracts";
import {
  type AuthenticatedUser,
  type Database,
  type FoundPasskey,
  type LoginRule,
  MAX_USED_CHALLENGES,
  type Passkey,
} from "@latchkey/database";
import { saltOf } from "@latchkey/hashing";
import { ServiceError } from "../../errors.ts";
import type { VerifiedLogin } from "../../login.ts";
import type { PasskeyRejection } from "../../observability/audit.ts";
import type { Owner } from "../../owner.ts";
import type { RequestContext } from "../../request-context.ts";
import type { Principal } from "../../tokens/access-tokens.ts";
import { CHALLENGE_LIFETIME_MS } from "../../tokens/passkey-challenges.ts";
import type { TokenKeys } from "../../tokens/token-keys.ts";
import { ALGORITHMS, createWebauthn, type RelyingParty } from "./webauthn.ts";

interface PasskeyServiceOptions
  extends RelyingParty,
    Pick<Database, "passkeys">,
    Pick<TokenKeys, "passkeyChallenges"> {
  /** If true, users are notified of changes to their passkeys. */
  readonly sendsMail: boolean;
  readonly canLogIn: LoginRule;
  readonly owner: Pick<Owner, "proveOwner" | "proveRemoval" | "expectOwnMailbox" | "findUser">;
}

/** What the client needs for the next step: the options for the browser, and the signed challenge. */
interface PasskeyStep {
  readonly options: object;
  readonly state: string;
}

export interface PasskeyService {
  /** @throws EMAIL_NOT_VERIFIED, or an error of `proveOwner` */
  requestCreation(
    principal: Principal,
    currentPassword: string | undefined,
    request: RequestContext,
  ): Promise<PasskeyStep>;
  /** @throws PASSKEY_INVALID also if the user or the passkeys have changed since `requestCreation` */
  create(principal: Principal, body: CreatePasskeyRequest, request: RequestContext): Promise<Passkey>;
  list(principal: Principal): Promise<Passkey[]>;
  /** @throws PASSKEY_NOT_FOUND, or LastLogin; the former also for the passkey of another user, or an error of `proveRemoval` */
  remove(
    principal: Principal,
    id: string,
    body: RemovalRequest | null,
    request: RequestContext,
  ): Promise<void>;
  /** Depends on no user, and so reveals none. */
  requestLogin(): PasskeyStep;
  /** @throws PASSKEY_REJECTED for every reason but one: TOO_MANY_REQUESTS if the passkey has logged in too often */
  verifyLogin(body: PasskeyLoginRequest, request: RequestContext): Promise<VerifiedLogin>;
}

/** The clocks of replicas can differ: a used challenge is stored until no replica accepts it. */
const CLOCK_DIFFERENCE_MS = 10_000;
const BUSY = `${MAX_USED_CHALLENGES} logins with one passkey per ${CHALLENGE_LIFETIME_MS / 60_000} minutes`;

/** The values of the user that end an enrolment when they change. The salt is hashed because clients can read a state. */
const bindingOf = ({ id, tokenVersion, passkeyRevision, hashedPassword }: AuthenticatedUser) => {
  const saltDigest = createHash("sha256").update(saltOf(hashedPassword)).digest("base64url");
  return [id, tokenVersion, passkeyRevision, saltDigest] as const;
};

export function createPasskeyService(options: PasskeyServiceOptions): PasskeyService {
  const { rpId, rpName, passkeys, passkeyChallenges, sendsMail, canLogIn } = options;
  const { proveOwner, proveRemoval, expectOwnMailbox, findUser } = options.owner;
  const webauthn = createWebauthn(options);
  const timeout = CHALLENGE_LIFETIME_MS;

  return {
    async requestCreation(principal, currentPassword, request) {
      const { user } = await proveOwner(principal, currentPassword, request);
      expectOwnMailbox(user);
      const handle = await passkeys.chooseUserHandle(user.id, randomBytes(16).toString("base64url"));
      if (handle === null) throw new ServiceError("USER_NOT_FOUND");
      const existing = await passkeys.list(user.id);
      const { challenge, state } = passkeyChallenges.sign("passkey-creation", bindingOf(user));
      const creationOptions = {
        challenge,
        rp: { id: rpId, name: rpName },
        user: { id: handle, name: user.email, displayName: user.username },
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
        timeout,
        attestation: "none",
        excludeCredentials: existing.map(({ id }) => ({ type: "public-key", id })),
        authenticatorSelection: {
          residentKey: "required",
          requireResidentKey: true,
          userVerification: "required",
        },
      };
      return { options: creationOptions, state };
    },

    async create({ user, token }, { state, response, name }, { audit }) {
      const { id: userId, email, tokenVersion, passkeyRevision: revision } = user;
      const reject = (reason: PasskeyRejection): never => {
        audit("passkey.rejected", email, userId, { reason });
        throw new ServiceError("PASSKEY_INVALID");
      };
      const { challenge } =
        passkeyChallenges.verify(state, "passkey-creation", bindingOf(user)) ?? reject("state");
      const credential = await webauthn.verifyCreation(response, challenge);
      if (typeof credential === "string") return reject(credential);
      const condition = { ...token.guard, tokenVersion, revision };
      const created =
        (await passkeys.create({ ...credential, userId, name }, condition, { notifies: sendsMail })) ??
        reject("state");
      audit("passkey.created", email, userId);
      return created;
    },

    list: ({ user }) => passkeys.list(user.id),

    async remove(principal, id, body, request) {
      const { user, condition } = await proveRemoval(principal, body, request);
      if (!(await passkeys.delete(id, user.id, condition, { notifies: sendsMail, canLogIn }))) {
        await findUser(user.id, condition);
        throw new ServiceError("PASSKEY_NOT_FOUND");
      }
      request.audit("passkey.removed", user.email, user.id);
    },

    requestLogin() {
      const { challenge, state } = passkeyChallenges.sign("passkey-login");
      return { options: { challenge, rpId, timeout, userVerification: "required" }, state };
    },

    async verifyLogin({ state, response }, { audit }) {
      const reject = (reason: PasskeyRejection, passkey: FoundPasskey | null = null): never => {
        audit("passkey.rejected", passkey?.email ?? null, passkey?.userId, { reason });
        throw new ServiceError("PASSKEY_REJECTED");
      };
      const verified = passkeyChallenges.verify(state, "passkey-login") ?? reject("state");
      const { challenge, challengeDigest: digest, expiresAt } = verified;
      const passkey = await passkeys.findById(response.id);
      const counter = await webauthn.verifyLogin(response, challenge, passkey?.publicKey);
      if (!passkey) return reject("credential");
      if (typeof counter === "string") return reject(counter, passkey);
      if (response.response.userHandle !== passkey.userHandle) return reject("user_handle", passkey);
      const forgetBefore = Date.now() - CLOCK_DIFFERENCE_MS;
      const use = await passkeys.use({ id: passkey.id, counter, digest, expiresAt, forgetBefore });
      if (use.result === "busy") {
        audit("passkey.rejected", passkey.email, passkey.userId, { reason: "busy" });
        const retryAfterSeconds = Math.max(1, Math.ceil((use.freeAt - forgetBefore) / 1000));
        throw new ServiceError("TOO_MANY_REQUESTS", { quota: BUSY, retryAfterSeconds });
      }
      if (use.result !== "accepted") return reject(use.result, passkey);
      const { userId: id, email, tokenVersion } = passkey;
      // A deletion of the user and a change of the e-mail delete the passkey.
      const changed = async () => reject("credential", passkey);
      return { user: { id, email, tokenVersion }, amr: ["pop", "user"], isTwoFactor: true, changed };
    },
  };
}
