/**
 * Logins with OpenID Connect providers, independent of HTTP: what a provider must prove, and the identities of a user.
 * `user-of-identity.ts` decides whose login it is. Nothing is stored between the options and the login.
 */
import type { OidcProvider } from "@latchkey/config";
import {
  type AddIdentityRequest,
  EMAIL_MAX_LENGTH,
  EMAIL_PATTERN,
  isMailable,
  normalizeEmail,
  type OidcLoginRequest,
  type OidcOptionsRequest,
  type RemovalRequest,
} from "@latchkey/contracts";
import type { Identity, LoginRule, User } from "@latchkey/database";
import { LoggedError, ServiceError } from "../../errors.ts";
import type { VerifiedLogin } from "../../login.ts";
import type { IdentityRejection } from "../../observability/audit.ts";
import type { Owner } from "../../owner.ts";
import { findRedirectUri, portOf, withPort } from "../../redirect-uris.ts";
import type { RequestContext } from "../../request-context.ts";
import type { Principal } from "../../tokens/access-tokens.ts";
import { challengeOf } from "../../tokens/oidc-states.ts";
import type { TokenKeys } from "../../tokens/token-keys.ts";
import type { Provider } from "./provider.ts";
import type { IdentityClaims } from "./provider-client.ts";
import { ProviderUnavailable } from "./provider-responses.ts";
import { createUserOfIdentity, type UserOfIdentityOptions, type VerifiedClaims } from "./user-of-identity.ts";

interface IdentityServiceOptions extends UserOfIdentityOptions, Pick<TokenKeys, "oidcStates"> {
  readonly providers: readonly Provider[];
  readonly redirectUris: readonly string[];
  readonly canLogIn: LoginRule;
  readonly owner: Owner;
}

export interface IdentityService {
  /** @throws INVALID_REQUEST, or ProviderUnavailable */
  begin(name: string, request: OidcOptionsRequest): Promise<{ authorization_url: string; state: string }>;
  /**
   * The commit of the login can throw TOO_MANY_REQUESTS, UserAlreadyExists and TooManyIdentities.
   * @throws IDENTITY_REJECTED, EMAIL_NOT_VERIFIED, REGISTRATION_CLOSED, ProviderUnavailable, UserAlreadyExists
   */
  verifyLogin(name: string, body: OidcLoginRequest, request: RequestContext): Promise<VerifiedLogin>;
  /**
   * @throws IDENTITY_REJECTED, ProviderUnavailable, IdentityAlreadyUsed, TooManyIdentities, or an error of `proveOwner`
   * @throws EMAIL_NOT_VERIFIED if mail is configured: the owner of the e-mail would not know of the identity
   */
  add(
    principal: Principal,
    name: string,
    body: AddIdentityRequest,
    request: RequestContext,
  ): Promise<Identity>;
  list(principal: Principal): Promise<Identity[]>;
  /** @throws IDENTITY_NOT_FOUND, or LastLogin; the former also for the identity of another user, or an error of `proveRemoval` */
  remove(
    principal: Principal,
    id: number,
    body: RemovalRequest | null,
    request: RequestContext,
  ): Promise<void>;
}

/** Another request can create or change the user between two queries. Each attempt then finds the new state. */
const MAX_ATTEMPTS = 3;

const isVerified = ({ emailVerified }: IdentityClaims): boolean =>
  emailVerified === true || emailVerified === "true";

const NOT_ACCEPTED = "The provider or the library did not accept the login";
const EMAIL = new RegExp(EMAIL_PATTERN, "u");

export function createIdentityService(options: IdentityServiceOptions): IdentityService {
  const { identities, oidcStates, providers, redirectUris, canLogIn, sendsMail: notifies } = options;
  const { proveOwner, proveRemoval, expectOwnMailbox, findUser, explainRejection } = options.owner;
  const userOf = createUserOfIdentity(options);

  /** @throws INVALID_REQUEST */
  const expectProvider = (name: string, parameter: "id" | "name" = "name"): Provider =>
    providers.find(({ settings }) => settings.name === name) ?? reject422(["path", parameter]);

  const bindingOf = ({ name, issuer, clientId }: OidcProvider, redirectUri: string) => ({
    provider: name,
    issuer,
    clientId,
    redirectUri,
  });

  /**
   * Verifies the state and the verifier, and redeems the code.
   * @throws IDENTITY_REJECTED, or ProviderUnavailable
   */
  const redeem = async (
    { settings, redeem }: Provider,
    { code, state, iss, code_verifier: verifier }: OidcLoginRequest,
    reject: (reason: IdentityRejection, cause?: unknown) => never,
  ) => {
    const stated = oidcStates.verify(state);
    const page = redirectUris.find((uri) => stated?.isBoundTo(bindingOf(settings, uri)));
    if (!stated || page === undefined) return reject("state");
    const redirectUri = stated.port === undefined ? page : withPort(page, stated.port);
    if (challengeOf(verifier) !== stated.challenge) return reject("verifier");
    const response = { code, state, iss, verifier, nonce: stated.nonce, redirectUri };
    return redeem(response).catch((error: unknown) => reject("provider", error));
  };

  /** Returns a function that rejects a login or an identity. @throws IDENTITY_REJECTED, or `cause` if it is ProviderUnavailable */
  const rejecting =
    ({ settings }: Provider, { audit, warn }: RequestContext, user?: Pick<User, "id" | "email">) =>
    (reason: IdentityRejection, cause?: unknown): never => {
      if (cause instanceof ProviderUnavailable) throw cause;
      if (cause !== undefined) warn(new LoggedError("IdentityNotAccepted", NOT_ACCEPTED, cause));
      audit("identity.rejected", user?.email ?? null, user?.id, { reason, provider: settings.name });
      throw new ServiceError("IDENTITY_REJECTED");
    };

  return {
    async begin(name, { redirect_uri: redirectUri, code_challenge: challenge }) {
      const provider = expectProvider(name);
      const page = findRedirectUri(redirectUris, redirectUri) ?? reject422(["body", "redirect_uri"]);
      const ownPort = page === redirectUri ? undefined : portOf(redirectUri);
      // The redirect URI is made again from the page and the port.
      if (ownPort === undefined && page !== redirectUri) reject422(["body", "redirect_uri"]);
      const { state, nonce } = oidcStates.begin(bindingOf(provider.settings, page), challenge, ownPort);
      const url = await provider.authorizationUrl({ redirectUri, challenge, state, nonce });
      return { authorization_url: url, state };
    },

    async verifyLogin(name, body, request) {
      const provider = expectProvider(name);
      const reject = rejecting(provider, request);
      const { subject, readClaims } = await redeem(provider, body, reject);
      const identity = { issuer: provider.settings.issuer, subject, provider: name };
      let read: Promise<VerifiedClaims> | undefined;
      const claims = () => {
        read ??= readClaims()
          .catch((error: unknown) => reject("provider", error))
          .then((found) => ({ ...found, normalized: verifiedEmailOf(found, name, reject, request) }));
        return read;
      };
      const verify = async (attempt: number): Promise<VerifiedLogin> => {
        if (attempt > MAX_ATTEMPTS) return reject("user");
        const retry = () => verify(attempt + 1);
        const found = await userOf(provider, identity, claims, body.username, request);
        if (!found) return retry();
        const methods = { provider: name, changed: async () => reject("user") };
        if (found.user === null) return { ...methods, user: null, commit: { ...found.commit, retry } };
        return { ...methods, ...found, commit: found.commit && { ...found.commit, retry } };
      };
      return verify(1);
    },

    async add(principal, name, body, request) {
      const provider = expectProvider(name, "id");
      const { user, condition } = await proveOwner(principal, body.current_password, request);
      expectOwnMailbox(user);
      const { subject } = await redeem(provider, body, rejecting(provider, request, user));
      const identity = { issuer: provider.settings.issuer, subject, provider: name };
      // Again in the inserting transaction: an operator can have changed the e-mail or its verification meanwhile.
      const verified = notifies ? { ...condition, verifiedEmail: user.email } : condition;
      const added = await identities.add(user.id, identity, verified, { notifies, isUsed: false });
      if (!added) {
        expectOwnMailbox(await findUser(user.id, condition));
        return explainRejection(user.id, condition);
      }
      request.audit("identity.created", user.email, user.id, { provider: name });
      return added;
    },

    list: ({ user }) => identities.list(user.id),

    async remove(principal, id, body, request) {
      const { user, condition } = await proveRemoval(principal, body, request);
      if (!(await identities.delete(id, user.id, condition, { notifies, canLogIn }))) {
        await findUser(user.id, condition);
        throw new ServiceError("IDENTITY_NOT_FOUND");
      }
      request.audit("identity.removed", user.email, user.id);
    },
  };
}

/** @throws EMAIL_NOT_VERIFIED, or IDENTITY_REJECTED if the service accepts no such address */
function verifiedEmailOf(
  claims: IdentityClaims,
  provider: string,
  reject: (reason: IdentityRejection) => never,
  { audit }: RequestContext,
): string {
  const { email } = claims;
  if (typeof email !== "string" || !isVerified(claims)) {
    audit("identity.rejected", null, undefined, { reason: "unverified", provider });
    throw new ServiceError("EMAIL_NOT_VERIFIED");
  }
  const normalized = normalizeEmail(email);
  // The provider has verified the mailbox of the e-mail as sent. Characters that are not in NFC, such as the Kelvin sign, become
  // letters of another mailbox in lower case.
  const isSame = email.normalize("NFC") === email;
  const isValid = normalized.length <= EMAIL_MAX_LENGTH && EMAIL.test(normalized) && isMailable(normalized);
  return isSame && isValid ? normalized : reject("email");
}

function reject422(loc: [string, string]): never {
  throw new ServiceError("INVALID_REQUEST", {
    issues: [{ loc, msg: "is not configured", type: "not_configured" }],
  });
}
