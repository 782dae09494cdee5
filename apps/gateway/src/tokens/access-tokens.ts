/**
 * Access tokens (JWT, RFC 7519). One key of `token-keys.ts` signs tokens; all keys of `token-keys.ts` verify tokens. The plugin
 * `@elysiajs/jwt` signs. `jose` verifies, because the plugin would reject an `iat` that this service ignores.
 */
import { jwt } from "@elysiajs/jwt";
import type { AuthenticatedUser, Guard, User } from "@latchkey/database";
import { Elysia } from "elysia";
import { compactVerify } from "jose";
import type { Config } from "../config.ts";
import type { Features } from "../feature-flags.ts";
import {
  AUTHENTICATION_CLASSES,
  AUTHENTICATION_METHODS,
  type LoginClaims,
} from "./authentication-methods.ts";
import type { TokenKey, TokenKeys } from "./token-keys.ts";

const TOKEN_ID = /^[\w.-]{1,128}$/;
const MAX_VERIFIED_TOKENS = 10_000;
const SECONDS_PER_HOUR = 3_600;
const SECONDS_PER_DAY = 86_400;

/** The claims that the service reads from a token. */
export interface TokenClaims {
  readonly userId: number;
  /**
   * Shows whether the token has been revoked. `version` is the claim `ver`, the user's `token_version` when the token was issued, or 0.
   * `exceptToken` is the claim `jti`, or null if the claim is absent or does not match `TOKEN_ID`.
   */
  readonly guard: Guard;
  readonly login: LoginClaims;
}

/** The authenticated user, read from the database, and the claims of the user's token. */
export interface Principal {
  readonly user: AuthenticatedUser;
  readonly token: TokenClaims;
}

type TokenUser = Pick<User, "id" | "tokenVersion" | "roles" | "claims" | "emailVerified">;

export interface Tokens {
  /** Whether tokens state how their user logged in. */
  readonly hasMethods: boolean;
  /** @param login the login that the token belongs to. @default a login at the current time */
  sign(user: TokenUser, login?: LoginClaims): Promise<string>;
  /** Returns a new token of the login. Returns null if the login has ended, or if `auth_time` is absent or in the future. */
  renew(user: TokenUser, login: LoginClaims): Promise<string | null>;
  /**
   * Returns null if the token is invalid. Returns the claims of a recently verified token without a promise, which saves 2 % of the
   * requests/s of `/auth/me`.
   * @param onSigned receives the user id of a token whose signature is valid, even if another claim is not
   */
  verify(
    token: string,
    onSigned?: (userId: number) => void,
    options?: VerifyOptions,
  ): TokenClaims | null | Promise<TokenClaims | null>;
}

export function createTokens(
  keys: Pick<TokenKeys, "signing" | "verification">,
  options: Config["tokens"],
  features: Features,
): Tokens {
  const { issuer, audience, tokenExpireMinutes, renewalDays, renewalIdleHours, claims } = options;
  const hasSecondFactor = features.has("secondFactor");
  const hasHostedLogin = features.has("hostedLogin");
  const hasMethods = features.has("passkeys") || hasSecondFactor;
  const { algorithm, key, kid, secret } = keys.signing;
  const parties = { ...(audience !== null && { aud: audience }), ...(issuer !== null && { iss: issuer }) };
  const signer = new Elysia().use(
    jwt({ secret: key, alg: algorithm, ...(kid !== null && { kid }), ...parties }),
  );
  const signHere = secret && createHmacSigner(algorithm, secret);
  // `aud` is one audience or an array of audiences (RFC 7519 §4.1.3).
  const isExpected = ({ iss, aud }: Members): boolean =>
    (issuer === null || iss === issuer) && (audience === null || [aud].flat().includes(audience));

  const lifetimeSeconds = Math.round(tokenExpireMinutes * 60);
  /** Returns the latest `exp` of the tokens of a login. Renewals cannot extend this time. */
  const endOf = (loginSeconds: number): number => loginSeconds + renewalDays * SECONDS_PER_DAY;

  const claimsOf = (user: TokenUser, login: LoginClaims = {}) => {
    const now = currentSeconds();
    const { auth_time = now, amr, acr = "1fa" } = login;
    const isTimed = renewalDays > 0 || hasSecondFactor || hasHostedLogin || login.auth_time !== undefined;
    // RFC 9068 §2.2.3.1 defines `roles`.
    const further = { roles: user.roles, email_verified: user.emailVerified, claims: user.claims };
    return {
      sub: String(user.id),
      ver: user.tokenVersion,
      jti: Bun.randomUUIDv7(),
      ...Object.fromEntries(claims.map((name) => [name, further[name]])),
      ...(hasMethods && amr && { amr: [...amr] }),
      ...(hasSecondFactor && { acr }),
      ...(isTimed && { auth_time }),
      exp: Math.min(now + lifetimeSeconds, renewalDays > 0 ? endOf(auth_time) : Infinity),
    };
  };

  /**
   * Caches the payloads of tokens with a valid signature. The keys are digests of tokens, and the oldest entry comes first. Each
   * request still checks the claims and reads the user from the database.
   */
  const verified = new Map<string, VerifiedToken>();

  return {
    hasMethods,
    sign: (user, login) => signer.decorator.jwt.sign(claimsOf(user, login)),
    async renew(user, login) {
      const { auth_time = Infinity } = login;
      const iat = currentSeconds();
      if (auth_time > iat || iat >= endOf(auth_time)) return null;
      const members = claimsOf(user, login);
      return signHere ? signHere({ ...parties, ...members, iat }) : signer.decorator.jwt.sign(members);
    },
    verify(token, onSigned, { acceptsIdleToken = false } = {}) {
      const read = ({ payload, isPrevious }: VerifiedToken): TokenClaims | null => {
        const idleSeconds = acceptsIdleToken && !isPrevious ? renewalIdleHours * SECONDS_PER_HOUR : 0;
        const userId = readUserId(payload);
        if (userId !== null) onSigned?.(userId);
        return userId !== null && isExpected(payload) ? readClaims(userId, payload, idleSeconds) : null;
      };
      const digest = Bun.SHA256.hash(token, "base64");
      const known = verified.get(digest);
      if (known) return read(known);
      return verifySignature(token, keys.verification).then((found) => {
        if (!found) return null;
        const [oldest] = verified.size < MAX_VERIFIED_TOKENS ? [] : verified.keys();
        if (oldest !== undefined) verified.delete(oldest);
        verified.set(digest, found);
        return read(found);
      });
    },
  };
}

/**
 * Signs in the current thread. The plugin signs in another thread, which doubles the processor time of a renewal. The cast is safe
 * because the algorithm of a secret key is HS256, HS384 or HS512.
 */
function createHmacSigner(algorithm: string, secret: Uint8Array) {
  const hmac = new Bun.CryptoHasher(`sha${algorithm.slice(2)}` as Bun.SupportedCryptoAlgorithms, secret);
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  const header = encode({ alg: algorithm, typ: "JWT" });
  return (claims: object): string => {
    const content = `${header}.${encode(claims)}`;
    return `${content}.${hmac.copy().update(content).digest("base64url")}`;
  };
}

interface VerifyOptions {
  /** Whether a token that expired at most `renewalIdleHours` ago is valid, unless a previous key signed it. @default false */
  readonly acceptsIdleToken?: boolean;
}

interface VerifiedToken {
  readonly payload: Members;
  /** Whether a key signed the token that does not sign any more. */
  readonly isPrevious: boolean;
}

async function verifySignature(token: string, keys: readonly TokenKey[]): Promise<VerifiedToken | undefined> {
  if (!token.split(".").every(isCanonical)) return undefined;
  for (const { algorithm, key, isPrevious = false } of candidates(keys, token)) {
    const verified = await compactVerify(token, key, { algorithms: [algorithm] }).catch(() => null);
    if (verified) return { payload: parseMembers(verified.payload), isPrevious };
  }
  return undefined;
}

/**
 * Returns the keys whose algorithm and `kid` match the token's header. If the key or the header has no `kid`, only the algorithm
 * must match. Secret keys never have a `kid`. Keys inside the header (`jwk`, `jku`, `x5c`) are never used.
 */
function candidates(keys: readonly TokenKey[], token: string): readonly TokenKey[] {
  const { alg, kid, crit } = parseMembers(Buffer.from(token.slice(0, token.indexOf(".")), "base64url"));
  // RFC 7515 §4.1.11: reject critical extensions, because the service supports no extensions.
  if (crit !== undefined) return [];
  return keys.filter(
    (key) => key.algorithm === alg && (key.kid === null || kid === undefined || key.kid === kid),
  );
}

/** Whether `text` is canonical base64url: no padding, and all unused bits are zero (RFC 4648 §3.5). */
export const isCanonical = (text: string): boolean =>
  Buffer.from(text, "base64url").toString("base64url") === text;

/** Returns null unless `sub` is the canonical decimal text of a safe integer. */
function readUserId({ sub }: Members): number | null {
  const userId = typeof sub === "string" ? Number(sub) : Number.NaN;
  return Number.isSafeInteger(userId) && String(userId) === sub ? userId : null;
}

/** Returns null if a claim is invalid. `exp` and `nbf` are checked without leeway (RFC 7519 §4.1.4, §4.1.5). */
function readClaims(
  userId: number,
  { exp, nbf = 0, ver = 0, jti, auth_time, amr, acr }: Members,
  idleSeconds: number,
): TokenClaims | null {
  const now = Date.now() / 1000;
  if (typeof exp !== "number" || exp + idleSeconds <= now || typeof nbf !== "number" || nbf > now)
    return null;
  if (!isSafeInteger(ver) || ver < 0) return null;
  const tokenId = typeof jti === "string" && TOKEN_ID.test(jti) ? jti : null;
  const methods = AUTHENTICATION_METHODS.find((one) => Bun.deepEquals(one, amr));
  const authenticationClass = AUTHENTICATION_CLASSES.find((one) => one === acr);
  const login = {
    ...(isSafeInteger(auth_time) && { auth_time }),
    ...(methods && { amr: methods }),
    ...(authenticationClass && { acr: authenticationClass }),
  };
  return { userId, guard: { version: ver, exceptToken: tokenId }, login };
}

/** Returns the seconds until a token of this service expires. */
export function expiresIn(token: string): number {
  const { exp } = parseMembers(Buffer.from(token.split(".")[1] ?? "", "base64url"));
  return Math.max(0, Number(exp) - currentSeconds());
}

const isSafeInteger = (value: unknown): value is number => Number.isSafeInteger(value);
export const currentSeconds = (): number => Math.floor(Date.now() / 1000);

type Members = Readonly<Record<string, unknown>>;

/** Returns the own members of a JSON object or array. Any other text has no members. */
function parseMembers(json: Uint8Array): Members {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(json));
    return typeof value === "object" ? { ...value } : {};
  } catch {
    return {};
  }
}
