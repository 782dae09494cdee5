/**
 * The last three steps of every login, and the only place where a login gets its token. A way to log in (password, passkey,
 * identity, mailed code) contributes the first step: it returns what it verified and what the login would change.
 */
import { type Database, isLoginStale, type User, type UserOfNetwork } from "@latchkey/database";
import { LoggedError, ServiceError } from "./errors.ts";
import type { FamiliarNetworks } from "./features/auth/familiar-networks.ts";
import type { AuditEvent } from "./observability/audit.ts";
import type { RequestContext } from "./request-context.ts";
import { currentSeconds, type Tokens } from "./tokens/access-tokens.ts";
import type { AuthenticationMethods, LoginClaims } from "./tokens/authentication-methods.ts";
import type { TokenKeys } from "./tokens/token-keys.ts";

/** What the login changes with the user. It runs only if the user gets a token. */
export interface LoginCommit {
  /** Whether the change verifies the e-mail. @default false */
  readonly verifiesEmail?: boolean;
  /** Whether the change ends the second factor of the user: nobody verified the e-mail when it was enrolled. @default false */
  readonly endsFactor?: boolean;
  readonly event?: AuditEvent;
  /** Returns the user, or null if another request has changed what the way read. */
  run(): Promise<User | null>;
  /** Called if `run` returned null: verifies again. @default `changed` */
  retry?(): Promise<VerifiedLogin>;
}

interface Verified {
  /** The methods of the claim `amr`. @default none, as for identities: RFC 8176 has no value for them */
  readonly amr?: AuthenticationMethods | undefined;
  /** Whether the way proved two factors, like a passkey. Others are asked for the second factor of the user. @default false */
  readonly isTwoFactor?: boolean;
  /** The name of the OpenID Connect provider. */
  readonly provider?: string | undefined;
  /** The login on a page of the service, whose code an application exchanges. @default this is a login of its own */
  readonly continues?: ContinuedLogin;
  /** Called if the user was deleted or changed since it was read. @throws the error of the way */
  changed(): Promise<never>;
}

interface ContinuedLogin {
  /** The token keeps these claims. */
  readonly login: LoginClaims;
  readonly client: string;
}

interface LoginOfUser extends Verified {
  /** As read. The token has this `tokenVersion`, so a later reset revokes it. */
  readonly user: Pick<User, "id" | "email" | "tokenVersion">;
  /** @default read by the login */
  readonly current?: UserOfNetwork;
  readonly commit?: LoginCommit | undefined;
}

/** The commit creates the user, who is active and has a verified e-mail. */
interface LoginOfNewUser extends Verified {
  readonly user: null;
  readonly commit: LoginCommit;
}

/** What a way to log in has verified. So far it wrote only what proves single use. */
export type VerifiedLogin = LoginOfUser | LoginOfNewUser;

/** @throws INACTIVE_USER, EMAIL_NOT_VERIFIED, SECOND_FACTOR_REQUIRED, or an error of the way if the user has changed */
export type Login = (verified: VerifiedLogin, request: RequestContext) => Promise<string>;

interface TokenRuleOptions extends Pick<Database, "outbox"> {
  readonly requireVerifiedEmail: boolean;
  /** Whether other services verify tokens without reading the user. If true, inactive users get no tokens. */
  readonly isVerifiedElsewhere: boolean;
}

/**
 * Whether a user gets a token, at a login or a renewal. Mails a verification, within its budget.
 * @param refused called before that mail
 * @throws INACTIVE_USER, EMAIL_NOT_VERIFIED
 */
export type ExpectToken = (
  user: Pick<User, "email" | "emailVerified" | "isActive">,
  refused?: () => void,
) => Promise<void>;

export const createTokenRule =
  ({ outbox, requireVerifiedEmail, isVerifiedElsewhere }: TokenRuleOptions): ExpectToken =>
  async ({ email, emailVerified, isActive }, refused) => {
    const isRefused = isVerifiedElsewhere && !isActive;
    if (!isRefused && (!requireVerifiedEmail || emailVerified)) return;
    refused?.();
    if (isRefused) throw new ServiceError("INACTIVE_USER");
    await outbox.request("verification", email);
    throw new ServiceError("EMAIL_NOT_VERIFIED");
  };

interface LoginOptions extends Pick<Database, "users">, Pick<TokenKeys, "factorStates"> {
  readonly tokens: Tokens;
  readonly expectToken: ExpectToken;
  /** null: the networks of logins are not stored. */
  readonly familiarNetworks: FamiliarNetworks | null;
}

export function createLogin(options: LoginOptions): Login {
  const { users, tokens, factorStates, expectToken, familiarNetworks } = options;

  /** The client proves the second factor with the state, which carries what the first one verified, but no commit. */
  const expectSecondFactor = (user: User, verified: LoginOfUser, request: RequestContext) => {
    const { isTwoFactor = false, amr, provider, commit } = verified;
    if (user.factorId === null || isTwoFactor || commit?.endsFactor) return;
    request.audit("login.factor_required", user.email, user.id, detailsOf(verified));
    const verifiesEmail = commit?.verifiesEmail === true;
    throw new ServiceError("SECOND_FACTOR_REQUIRED", {
      state: factorStates.beginLogin(user, { amr, provider, verifiesEmail }),
    });
  };

  /**
   * Judges the user as the commit would leave it. A refusal writes nothing else than the mail. After a change of e-mail, the token
   * would be revoked already, and the network would belong to the old e-mail.
   */
  const decide = async (verified: LoginOfUser, request: RequestContext) => {
    const { user, current, commit } = verified;
    const { email, id } = user;
    const digest = familiarNetworks?.networkDigestOf({ email, network: request.network });
    const read = current ?? (await users.findWithNetwork(id, digest));
    if (read?.email !== email) return verified.changed();
    const emailVerified = read.emailVerified || commit?.verifiesEmail === true;
    await expectToken({ ...read, emailVerified }, () =>
      request.audit(read.isActive ? "login.unverified" : "login.inactive", email, id, detailsOf(verified)),
    );
    const decided = { ...read, tokenVersion: user.tokenVersion };
    expectSecondFactor(decided, verified, request);
    return decided;
  };

  const detailsOf = ({ amr, provider }: Pick<Verified, "amr" | "provider">) => ({
    amr: tokens.hasMethods ? amr : undefined,
    provider,
  });

  /** The login succeeds even if its network or its time is not stored. The next one from the same network can then be limited. */
  const store = async (
    user: User,
    networkSeenAt: UserOfNetwork["networkSeenAt"],
    request: RequestContext,
  ) => {
    const warnOf = (name: string, message: string) => (cause: unknown) =>
      request.warn(new LoggedError(name, message, cause));
    await familiarNetworks
      ?.store(user, request.network, networkSeenAt)
      .catch(warnOf("NetworkNotStored", "The network of the client was not stored"));
    if (user.isActive && isLoginStale(user.lastLoginAt))
      await users
        .storeLogin(user.id)
        .catch(warnOf("LoginTimeNotStored", "The time of the login was not stored"));
  };

  const login: Login = async (verified, request) => {
    const { amr, provider, commit, isTwoFactor, continues } = verified;
    const decided = verified.user && (await decide(verified, request));
    const user = commit ? await commit.run() : decided;
    if (!user) return login(await (commit?.retry ?? verified.changed)(), request);
    const { id, email, isActive, tokenVersion } = user;
    if (continues) {
      // Its network is that of the application's server, and the page has stored that of the user.
      request.audit("authorization_code.exchanged", email, id, { client: continues.client });
      return tokens.sign(user, continues.login);
    }
    if (commit?.event) request.audit(commit.event, email, id, { provider });
    request.audit(isActive ? "login.succeeded" : "login.inactive", email, id, detailsOf(verified));
    // A takeover has deleted the networks, and incremented the version.
    const networkSeenAt = decided?.tokenVersion === tokenVersion ? decided.networkSeenAt : null;
    await store(user, networkSeenAt, request);
    // A user without a password proves changes by a recent login.
    const isTimed = amr?.[0] !== "pwd";
    return tokens.sign(user, {
      ...(amr && { amr }),
      ...(isTwoFactor && { acr: "2fa" }),
      ...(isTimed && { auth_time: currentSeconds() }),
    });
  };
  return login;
}
