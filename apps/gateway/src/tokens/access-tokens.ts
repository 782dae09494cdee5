/**
 * Access tokens (JWT, RFC 7519): signed with one key of `token-keys.ts` and verified with all of them. The plugin signs; `jose`,
 * which it is based on, verifies, because the plugin would reject an `iat` that this service ignores.
 */
import { createHmac, type KeyObject } from "node:crypto";
import { jwt } from "@elysiajs/jwt";
import type { User } from "@latchkey/database";
import { Elysia } from "elysia";
import { compactVerify } from "jose";
import type { Config } from "../config.ts";
import type { TokenKey, TokenKeys } from "./token-keys.ts";

const TOKEN_ID = /^[\w.-]{1,128}$/;
const MAX_VERIFIED_TOKENS = 10_000;
const SECONDS_PER_DAY = 86_400;

/** The user whom a token identifies, and what decides whether the token has been revoked. */
export interface TokenClaims {
  readonly userId: number;
  /** The user's `token_version` when the token was issued: claim `ver`, 0 if absent. */
  readonly version: number;
  /** Claim `jti`, which can be stored: null if it is absent or is not 1 to 128 characters from `[A-Za-z0-9._-]`. */
  readonly tokenId: string | null;
  readonly login: LoginClaims;
}

/** The authenticated user, as read from the database. */
export interface Principal {
  readonly user: User;
  readonly token: TokenClaims;
}

/** RFC 8176: a password, or a passkey, which proves the possession of a key and the presence of its user. */
const METHODS = [["pwd"], ["pop", "user"]] as const;
export type AuthenticationMethods = (typeof METHODS)[number];

/** The claims about a login, which its renewed tokens keep. */
export interface LoginClaims {
  /** Its time in seconds since the epoch; absent if tokens cannot be renewed. */
  readonly auth_time?: number;
  /** Absent if passkeys are off. */
  readonly amr?: AuthenticationMethods;
}

type TokenUser = Pick<User, "id" | "tokenVersion" | "roles" | "emailVerified">;

export type Tokens = ReturnType<typeof createTokens>;

interface TokensOptions
  extends Pick<Config["auth"], "issuer" | "audience" | "tokenExpireMinutes" | "renewalDays" | "claims"> {
  readonly keys: Pick<TokenKeys, "signing" | "verification">;
  /** Whether tokens state how their user logged in. @default false */
  readonly hasMethods?: boolean;
}

export function createTokens(options: TokensOptions) {
  const { keys, issuer, audience, tokenExpireMinutes, renewalDays, claims, hasMethods = false } = options;
  const { algorithm, key, kid, secret } = keys.signing;
  const parties = { ...(audience !== null && { aud: audience }), ...(issuer !== null && { iss: issuer }) };
  const signer = new Elysia().use(
    jwt({ secret: key, alg: algorithm, ...(kid !== null && { kid }), ...parties }),
  );
  const signHere = secret && createHmacSigner(algorithm, secret);
  // RFC 7519 §4.1.3: one audience, or an array of them.
  const isExpected = ({ iss, aud }: Members): boolean =>
    (issuer === null || iss === issuer) && (audience === null || [aud].flat().includes(audience));

  const lifetimeSeconds = Math.round(tokenExpireMinutes * 60);
  /** When the tokens of a login end, however often they are renewed. */
  const endOf = (loginSeconds: number): number => loginSeconds + renewalDays * SECONDS_PER_DAY;

  const claimsOf = (user: TokenUser, login: LoginClaims = {}) => {
    const now = currentSeconds();
    const { auth_time = now, amr } = login;
    // RFC 9068 §2.2.3.1
    const further = { roles: user.roles, email_verified: user.emailVerified };
    return {
      sub: String(user.id),
      ver: user.tokenVersion,
      jti: Bun.randomUUIDv7(),
      ...Object.fromEntries(claims.map((name) => [name, further[name]])),
      ...(hasMethods && amr && { amr: [...amr] }),
      ...(renewalDays > 0 && { auth_time }),
      exp: Math.min(now + lifetimeSeconds, renewalDays > 0 ? endOf(auth_time) : Infinity),
    };
  };

  /**
   * The payloads of tokens with a valid signature. Keys are digests of the tokens; the oldest entry comes first. Only the
   * signature is cached: each request checks the claims, and the service reads the user from the database.
   */
  const verified = new Map<string, Members>();

  return {
    hasMethods,
    /** Returns the token of a login, by default of one at this time. */
    sign: (user: TokenUser, login?: LoginClaims): Promise<string> =>
      signer.decorator.jwt.sign(claimsOf(user, login)),
    /** Returns a token with the login of another one; null if that cannot be renewed, for example without the time of its login. */
    async renew(user: TokenUser, login: LoginClaims): Promise<string | null> {
      const { auth_time = Infinity } = login;
      const iat = currentSeconds();
      if (auth_time > iat || iat >= endOf(auth_time)) return null;
      const members = claimsOf(user, login);
      return signHere ? signHere({ ...parties, ...members, iat }) : signer.decorator.jwt.sign(members);
    },
    /** Returns null if the token is invalid. */
    async verify(token: string): Promise<TokenClaims | null> {
      const digest = Bun.SHA256.hash(token, "base64");
      let payload = verified.get(digest);
      if (!payload) {
        payload = await verifySignature(token, keys.verification);
        if (!payload) return null;
        const [oldest] = verified.size < MAX_VERIFIED_TOKENS ? [] : verified.keys();
        if (oldest !== undefined) verified.delete(oldest);
        verified.set(digest, payload);
      }
      return isExpected(payload) ? readClaims(payload) : null;
    },
  };
}

/** Signs in this thread. The plugin's signature waits for another thread, which doubles the processor time of a renewal. */
function createHmacSigner(algorithm: string, secret: KeyObject) {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  const header = encode({ alg: algorithm, typ: "JWT" });
  return (claims: object): string => {
    const content = `${header}.${encode(claims)}`;
    const mac = createHmac(`sha${algorithm.slice(2)}`, secret).update(content);
    return `${content}.${mac.digest("base64url")}`;
  };
}

async function verifySignature(token: string, keys: readonly TokenKey[]): Promise<Members | undefined> {
  if (!token.split(".").every(isCanonical)) return undefined;
  for (const { algorithm, key } of candidates(keys, token)) {
    const verified = await compactVerify(token, key, { algorithms: [algorithm] }).catch(() => null);
    if (verified) return parseMembers(verified.payload);
  }
  return undefined;
}

/**
 * The keys that can have signed the token: of its algorithm, and if it names a key, only that key. Secret keys have no
 * `kid`, so they ignore one. Keys in the header (`jwk`, `jku`, `x5c`) are never used.
 */
function candidates(keys: readonly TokenKey[], token: string): readonly TokenKey[] {
  const { alg, kid, crit } = parseMembers(Buffer.from(token.slice(0, token.indexOf(".")), "base64url"));
  // RFC 7515 §4.1.11: reject critical extensions, because none is supported.
  if (crit !== undefined) return [];
  return keys.filter(
    (key) => key.algorithm === alg && (key.kid === null || kid === undefined || key.kid === kid),
  );
}

/** Whether `text` is the one base64url encoding of its bytes: no padding, unused bits zero (RFC 4648 §3.5). */
export const isCanonical = (text: string): boolean =>
  Buffer.from(text, "base64url").toString("base64url") === text;

/** Requires that `exp` is in the future and that `nbf`, if present, is not; without leeway (RFC 7519 §4.1.4, §4.1.5). */
function readClaims({ sub, exp, nbf = 0, ver = 0, jti, auth_time, amr }: Members): TokenClaims | null {
  const now = Date.now() / 1000;
  if (typeof exp !== "number" || exp <= now || typeof nbf !== "number" || nbf > now) return null;
  // The canonical decimal text of a safe integer.
  const userId = typeof sub === "string" ? Number(sub) : Number.NaN;
  if (!Number.isSafeInteger(userId) || String(userId) !== sub) return null;
  if (!isSafeInteger(ver) || ver < 0) return null;
  const tokenId = typeof jti === "string" && TOKEN_ID.test(jti) ? jti : null;
  const methods = METHODS.find((one) => Bun.deepEquals(one, amr));
  const login = { ...(isSafeInteger(auth_time) && { auth_time }), ...(methods && { amr: methods }) };
  return { userId, version: ver, tokenId, login };
}

const isSafeInteger = (value: unknown): value is number => Number.isSafeInteger(value);
const currentSeconds = (): number => Math.floor(Date.now() / 1000);

type Members = Readonly<Record<string, unknown>>;

/** The own members of a JSON object or array; none for any other text. */
function parseMembers(json: Uint8Array): Members {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(json));
    return typeof value === "object" ? { ...value } : {};
  } catch {
    return {};
  }
}
