/** Access tokens (JWT, RFC 7519): signed with the current key, verified with the current or the previous key. */
import { jwt } from "@elysiajs/jwt";
import { Elysia } from "elysia";
import { compactVerify } from "jose";
import type { Config } from "../config.ts";

export interface TokensOptions
  extends Pick<Config["auth"], "algorithm" | "tokenExpireMinutes" | "previousSecretKey"> {
  readonly secretKey: string;
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
export function createTokens({ secretKey, previousSecretKey, algorithm, tokenExpireMinutes }: TokensOptions) {
  const signer = new Elysia().use(jwt({ secret: secretKey, alg: algorithm, exp: `${tokenExpireMinutes}m` }));
  const acceptedKeys = [secretKey, previousSecretKey]
    .filter((key) => key !== null)
    .map((key) => importKey(key, algorithm));

  return {
    sign: ({ userId, version }: Omit<TokenClaims, "tokenId">): Promise<string> =>
      signer.decorator.jwt.sign({ sub: String(userId), ver: version, jti: Bun.randomUUIDv7() }),
    /** Returns null if the token is invalid. */
    async verify(token: string): Promise<TokenClaims | null> {
      if (!token.split(".").every(isCanonical)) return null;
      for (const key of acceptedKeys) {
        const verified = await compactVerify(token, await key, { algorithms: [algorithm] }).catch(() => null);
        // RFC 7515 §4.1.11: reject critical extensions, because none is supported.
        if (verified)
          return verified.protectedHeader.crit ? null : readClaims(parsePayload(verified.payload));
      }
      return null;
    },
  };
}

/** Whether `text` is the one base64url encoding of its bytes: no padding, unused bits zero (RFC 4648 §3.5). */
const isCanonical = (text: string): boolean => Buffer.from(text, "base64url").toString("base64url") === text;

/** Imports the key once; given its bytes, `jose` would import it for every token. */
const importKey = (secret: string, algorithm: TokensOptions["algorithm"]): Promise<CryptoKey> =>
  crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode(secret),
    { name: "HMAC", hash: `SHA-${algorithm.slice(2)}` },
    false,
    ["verify"],
  );

type Payload = Readonly<Record<string, unknown>>;

/** Requires that `exp` is in the future and that `nbf`, if present, is not; without leeway (RFC 7519 §4.1.4, §4.1.5). */
function readClaims({ sub, exp, nbf = 0, ver = 0, jti }: Payload): TokenClaims | null {
  const now = Date.now() / 1000;
  if (typeof exp !== "number" || exp <= now || typeof nbf !== "number" || nbf > now) return null;
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
