/**
 * Authenticates protected routes with access tokens (JWT, RFC 7519), which are signed with one key and verified with all keys
 * of `token-keys.ts`. Adds `principal` to the context or throws, before the body is validated.
 */
import { jwt } from "@elysiajs/jwt";
import type { User } from "@latchkey/database";
import { Elysia } from "elysia";
import { compactVerify } from "jose";
import type { Config } from "../config.ts";
import { requestContext } from "../http/request-context.ts";
import type { TokenClaims, TokenKey, TokenKeys, Tokens } from "../tokens/token-keys.ts";

/**
 * RFC 6750 §2.1 with a compact JWS (RFC 7515 §7.1, no padding); the scheme is case-insensitive (RFC 9110 §11.1). The header
 * has at most 1,024 characters, because it is parsed before the signature is verified (see `json.ts`).
 */
const BEARER = /^bearer +([\w-]{1,1024}\.[\w-]+\.[\w-]+) *$/i;
const TOKEN_ID = /^[\w.-]{1,128}$/;
const MAX_VERIFIED_TOKENS = 10_000;

/** @param authenticate receives null if there is no well-formed bearer token */
export function bearerAuth<Principal extends { readonly user: Pick<User, "id"> }>(
  authenticate: (token: string | null) => Promise<Principal>,
) {
  return new Elysia({ name: "bearer-auth" })
    .use(requestContext())
    .derive({ as: "scoped" }, async (context) => {
      const credentials = BEARER.exec(context.request.headers.get("authorization") ?? "");
      const principal = await authenticate(credentials?.[1] ?? null);
      context.userId = principal.user.id;
      return { principal };
    });
}

interface TokensOptions extends Pick<Config["auth"], "issuer" | "audience" | "tokenExpireMinutes"> {
  readonly keys: Pick<TokenKeys, "signing" | "verification">;
}

/** The plugin signs. `jose`, which it is based on, verifies: the plugin would reject an `iat` that this service ignores. */
export function createTokens({ keys, issuer, audience, tokenExpireMinutes }: TokensOptions): Tokens {
  const { algorithm, key: secret, kid } = keys.signing;
  const signer = new Elysia().use(
    jwt({
      secret,
      alg: algorithm,
      exp: `${tokenExpireMinutes}m`,
      ...(kid !== null && { kid }),
      ...(issuer !== null && { iss: issuer }),
      ...(audience !== null && { aud: audience }),
    }),
  );
  // RFC 7519 §4.1.3: one audience, or an array of them.
  const isExpected = ({ iss, aud }: Members): boolean =>
    (issuer === null || iss === issuer) && (audience === null || [aud].flat().includes(audience));

  /**
   * The payloads of tokens with a valid signature. Keys are digests of the tokens; the oldest entry comes first. Only the
   * signature is cached: each request checks the claims, and the service reads the user from the database.
   */
  const verified = new Map<string, Members>();

  return {
    sign: ({ userId, version }) =>
      signer.decorator.jwt.sign({ sub: String(userId), ver: version, jti: Bun.randomUUIDv7() }),
    async verify(token) {
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
const isCanonical = (text: string): boolean => Buffer.from(text, "base64url").toString("base64url") === text;

/** Requires that `exp` is in the future and that `nbf`, if present, is not; without leeway (RFC 7519 §4.1.4, §4.1.5). */
function readClaims({ sub, exp, nbf = 0, ver = 0, jti }: Members): TokenClaims | null {
  const now = Date.now() / 1000;
  if (typeof exp !== "number" || exp <= now || typeof nbf !== "number" || nbf > now) return null;
  // The canonical decimal text of a safe integer.
  const userId = typeof sub === "string" ? Number(sub) : Number.NaN;
  if (!Number.isSafeInteger(userId) || String(userId) !== sub) return null;
  if (typeof ver !== "number" || !Number.isSafeInteger(ver) || ver < 0) return null;
  return { userId, version: ver, tokenId: typeof jti === "string" && TOKEN_ID.test(jti) ? jti : null };
}

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
