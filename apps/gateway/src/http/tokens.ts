/** Access tokens (JWT, RFC 7519): signed with the current key, verified with it or the previous one. */
import { jwt } from "@elysiajs/jwt";
import { Elysia } from "elysia";
import type { Config } from "../config/config.ts";

export interface Tokens {
  sign(userId: number): Promise<string>;
  /** The user id in `sub`, or null if anything about the token is wrong. */
  verify(token: string): Promise<number | null>;
}

export interface TokensOptions
  extends Pick<Config["auth"], "algorithm" | "tokenExpireMinutes" | "previousSecretKey"> {
  readonly secretKey: string;
}

export function createTokens({
  secretKey,
  previousSecretKey,
  algorithm,
  tokenExpireMinutes,
}: TokensOptions): Tokens {
  const codecOf = (secret: string) =>
    new Elysia().use(jwt({ secret, alg: algorithm, exp: `${tokenExpireMinutes}m` })).decorator.jwt;
  const current = codecOf(secretKey);
  const accepted = previousSecretKey === null ? [current] : [current, codecOf(previousSecretKey)];
  const rules = { algorithms: [algorithm], requiredClaims: ["sub", "exp"] };
  return {
    sign: (userId) => current.sign({ sub: String(userId) }),
    async verify(token) {
      for (const codec of accepted) {
        const claims = await codec.verify(token, rules);
        if (claims) return parseSubject(claims.sub);
      }
      return null;
    },
  };
}

/** The decimal text of a safe integer, and only its canonical form. */
function parseSubject(subject: unknown): number | null {
  if (typeof subject !== "string") return null;
  const id = Number(subject);
  return Number.isSafeInteger(id) && String(id) === subject ? id : null;
}
