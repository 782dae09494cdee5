/** Access tokens (JWT, RFC 7519): signed with one key, verified with all keys of `token-keys.ts`. */
import { jwt } from "@elysiajs/jwt";
import { Elysia } from "elysia";
import { compactVerify, decodeProtectedHeader } from "jose";
import type { Config } from "../config.ts";
import type { TokenKey, TokenKeys } from "../token-keys.ts";

interface TokensOptions extends Pick<Config["auth"], "issuer" | "audience" | "tokenExpireMinutes"> {
  readonly keys: Pick<TokenKeys, "signing" | "verification">;
}

/** The user whom a token identifies, and what decides whether the token has been revoked. */
export interface TokenClaims {
  readonly userId: number;
  /** The user's `token_version` when the token was issued: claim `ver`, 0 if absent. */
  readonly version: number;
  /** Claim `jti`; null if it is absent or is not 1 to 128 characters from `[A-Za-z0-9._-]`, so that it can be stored. */
  readonly tokenId: string | null;
}

/** The plugin signs. `jose`, which it is based on, verifies: the plugin would reject an `iat` that this service ignores. */
export function createTokens({ keys, issuer, audience, tokenExpireMinutes }: TokensOptions) {
  const { algorithm, key: secret, kid } = keys.signing;
  const expected: Expected = {
    ...(issuer !== null && { iss: issuer }),
    ...(audience !== null && { aud: audience }),
  };
  const signer = new Elysia().use(
    jwt({ secret, alg: algorithm, ...(kid !== null && { kid }), ...expected, exp: `${tokenExpireMinutes}m` }),
  );

  /**
   * The payloads of tokens with a valid signature. Keys are digests of the tokens; the oldest entry comes first. Only the
   * signature is cached: each request checks the claims, and the service reads the user from the database.
   */
  const verified = new Map<string, Payload>();

  return {
    sign: ({ userId, version }: Omit<TokenClaims, "tokenId">): Promise<string> =>
      signer.decorator.jwt.sign({ sub: String(userId), ver: version, jti: Bun.randomUUIDv7() }),
    /** Returns null if the token is invalid. */
    async verify(token: string): Promise<TokenClaims | null> {
      const digest = Bun.SHA256.hash(token, "base64");
      const known = verified.get(digest);
      if (known) return readClaims(known, expected);
      const payload = await verifySignature(token, keys.verification);
      if (!payload) return null;
      const [oldest] = verified.size < MAX_VERIFIED_TOKENS ? [] : verified.keys();
      if (oldest !== undefined) verified.delete(oldest);
      verified.set(digest, payload);
      return readClaims(payload, expected);
    },
  };
}

const MAX_VERIFIED_TOKENS = 10_000;

async function verifySignature(token: string, keys: readonly TokenKey[]): Promise<Payload | null> {
  if (!token.split(".").every(isCanonical)) return null;
  for (const { algorithm, key } of candidates(keys, token)) {
    const verified = await compactVerify(token, key, { algorithms: [algorithm] }).catch(() => null);
    if (verified) return parsePayload(verified.payload);
  }
  return null;
}

/**
 * The keys that can have signed the token: of its algorithm, and if it names a key, only that key. Secret keys have no
 * `kid`, so they ignore one. Keys in the header (`jwk`, `jku`, `x5c`) are never used.
 */
function candidates(keys: readonly TokenKey[], token: string): readonly TokenKey[] {
  const { alg, kid, crit } = parseHeader(token);
  // RFC 7515 §4.1.11: reject critical extensions, because none is supported.
  if (crit !== undefined) return [];
  return keys.filter(
    (key) => key.algorithm === alg && (key.kid === null || kid === undefined || key.kid === kid),
  );
}

function parseHeader(token: string): ReturnType<typeof decodeProtectedHeader> {
  try {
    return decodeProtectedHeader(token);
  } catch {
    return {};
  }
}

/** Whether `text` is the one base64url encoding of its bytes: no padding, unused bits zero (RFC 4648 §3.5). */
const isCanonical = (text: string): boolean => Buffer.from(text, "base64url").toString("base64url") === text;

type Payload = Readonly<Record<string, unknown>>;

/** Claims that a token must have. */
interface Expected {
  readonly iss?: string;
  readonly aud?: string;
}

/** Requires that `exp` is in the future and that `nbf`, if present, is not; without leeway (RFC 7519 §4.1.4, §4.1.5). */
function readClaims(
  { sub, exp, nbf = 0, ver = 0, jti, iss, aud }: Payload,
  expected: Expected,
): TokenClaims | null {
  const now = Date.now() / 1000;
  if (typeof exp !== "number" || exp <= now || typeof nbf !== "number" || nbf > now) return null;
  if (expected.iss !== undefined && iss !== expected.iss) return null;
  // RFC 7519 §4.1.3: one audience, or an array of them.
  if (expected.aud !== undefined && ![aud].flat().includes(expected.aud)) return null;
  const userId = typeof sub === "string" ? parseId(sub) : null;
  if (userId === null || !isVersion(ver)) return null;
  return { userId, version: ver, tokenId: typeof jti === "string" && TOKEN_ID.test(jti) ? jti : null };
}

const TOKEN_ID = /^[\w.-]{1,128}$/;

const isVersion = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** Parses the canonical decimal text of a safe integer. */
function parseId(text: string): number | null {
  const id = Number(text);
  return Number.isSafeInteger(id) && String(id) === text ? id : null;
}

/** The own members of a JSON object; empty for any other payload. */
function parsePayload(payload: Uint8Array): Payload {
  try {
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload));
    return typeof claims === "object" && claims !== null ? { ...claims } : {};
  } catch {
    return {};
  }
}
