/** Access tokens (JWT, RFC 7519): signed with the current key, verified with the current or the previous key. */
import { jwt } from "@elysiajs/jwt";
import { Elysia } from "elysia";
import { compactVerify } from "jose";
import type { Config } from "../config.ts";

export interface TokensOptions
  extends Pick<Config["auth"], "algorithm" | "tokenExpireMinutes" | "previousSecretKey"> {
  readonly secretKey: string;
}

/** The plugin signs. `jose`, which it is based on, verifies: the plugin would reject an `iat` that this service ignores. */
export function createTokens({ secretKey, previousSecretKey, algorithm, tokenExpireMinutes }: TokensOptions) {
  const signer = new Elysia().use(jwt({ secret: secretKey, alg: algorithm, exp: `${tokenExpireMinutes}m` }));
  const acceptedKeys = [secretKey, previousSecretKey]
    .filter((key) => key !== null)
    .map((key) => importKey(key, algorithm));

  return {
    sign: (userId: number): Promise<string> => signer.decorator.jwt.sign({ sub: String(userId) }),
    /** Returns the user id in `sub`, or null if the token is invalid. */
    async verify(token: string): Promise<number | null> {
      if (!token.split(".").every(isCanonical)) return null;
      for (const key of acceptedKeys) {
        const verified = await compactVerify(token, await key, { algorithms: [algorithm] }).catch(() => null);
        // RFC 7515 §4.1.11: reject critical extensions, because none is supported.
        if (verified) return verified.protectedHeader.crit ? null : subjectOf(parseClaims(verified.payload));
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

type Claims = Readonly<Record<string, unknown>>;

/** The user id, if `exp` is in the future and `nbf`, if present, is not; without leeway (RFC 7519 §4.1.4, §4.1.5). */
function subjectOf({ sub, exp, nbf = 0 }: Claims): number | null {
  const now = Date.now() / 1000;
  if (typeof exp !== "number" || exp <= now || typeof nbf !== "number" || nbf > now) return null;
  return typeof sub === "string" ? parseId(sub) : null;
}

/** Parses the canonical decimal text of a safe integer. */
function parseId(text: string): number | null {
  const id = Number(text);
  return Number.isSafeInteger(id) && String(id) === text ? id : null;
}

/** The own members of a JSON object; empty for any other payload. */
function parseClaims(payload: Uint8Array): Claims {
  try {
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload));
    return typeof claims === "object" && claims !== null ? { ...claims } : {};
  } catch {
    return {};
  }
}
