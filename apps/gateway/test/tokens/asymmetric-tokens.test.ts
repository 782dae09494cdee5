/** Tokens of ES256 and EdDSA: which key verifies which token, and that no key verifies tokens of another algorithm. */
import { describe, expect, test } from "bun:test";
import { createPublicKey } from "node:crypto";
import { createKeyPair, type KeyPairPem, privateKeyVariables } from "@latchkey/testing/keys";
import { createTokens } from "../../src/tokens/access-tokens.ts";
import { createOneTimeTokens } from "../../src/tokens/one-time-tokens.ts";
import { importTokenKeys } from "../../src/tokens/token-keys.ts";
import { encode, forge, forgeWithPrivateKey, openToken } from "../support/forge-token.ts";
import { readConfig, SECRET_KEY, startService } from "../support/service.ts";

const exp = 4_000_000_000;
const claims = { sub: "7", exp };
const ALGORITHMS = ["ES256", "EdDSA"] as const;
type Variables = Readonly<Record<string, string | undefined>>;

async function tokensOf(env: Variables) {
  const { tokenKeys, tokens } = readConfig(env);
  const keys = await importTokenKeys(tokenKeys, () => SECRET_KEY);
  const { sign, verify } = createTokens(keys, tokens, new Set());
  return {
    keys: keys.publicKeySet.keys,
    sign: () => sign({ id: 7, tokenVersion: 0, roles: [], claims: {}, emailVerified: false }),
    isValid: async (token: string) => (await verify(token)) !== null,
    /** Of a mail, signed with this key. */
    isValidLink: (material: string | Uint8Array) => {
      const user = {
        ...{ id: 7, email: "a@example.org", emailVerified: true, hashedPassword: "s$d", tokenVersion: 0 },
        ...{ pendingEmail: null, importedHash: null, linkRevision: 0 },
      };
      const link = createOneTimeTokens([material]).sign("reset", Date.now() + 60_000, user);
      return keys.oneTimeTokens.verify(link, "reset") !== null;
    },
  };
}

const forgeBy = ({ privatePem }: KeyPairPem, header: object) =>
  forgeWithPrivateKey({ header, claims, pem: privatePem });

/** The `kid` of a key: the service itself computes it, and `token-keys.test.ts` compares it with RFC 7638. */
const kidOf = async ({ publicPem }: KeyPairPem) =>
  (await tokensOf({ AUTH_NEXT_PUBLIC_KEY: publicPem })).keys[0]?.kid ?? "";

describe.each(ALGORITHMS)("with %s", (alg) => {
  const pair = () => createKeyPair(alg);
  const [own, next, previous, unknown] = [pair(), pair(), pair(), pair()];
  const otherAlgorithm = alg === "ES256" ? "EdDSA" : "ES256";
  const env = {
    ...privateKeyVariables(alg, own),
    AUTH_NEXT_PUBLIC_KEY: next.publicPem,
    AUTH_PREVIOUS_PUBLIC_KEY: previous.publicPem,
  };

  test("a token names its algorithm and the first key of the set; the own, the next and the previous key verify, and no other", async () => {
    const { keys, sign, isValid } = await tokensOf(env);
    const token = await sign();
    expect(openToken(token).header).toEqual({ alg, kid: keys[0]?.kid, typ: "JWT" });
    expect(await isValid(token)).toBe(true);
    for (const pair of [own, next, previous, unknown]) {
      const kid = await kidOf(pair);
      for (const header of [{ alg, kid }, { alg }])
        expect(await isValid(forgeBy(pair, header))).toBe(pair !== unknown);
    }
  });

  test("a token with the kid of another key, or with another algorithm, is rejected", async () => {
    const { isValid } = await tokensOf(env);
    const kid = await kidOf(own);
    const names = ["HS256", "ES384", "ES256K", "RS256", "Ed25519", "none", alg.toLowerCase(), undefined];
    const headers = [
      ...[await kidOf(next), "", kid.toUpperCase(), ` ${kid}`, null, 0, [kid]].map((kid) => ({ alg, kid })),
      ...[otherAlgorithm, ...names].flatMap((alg) => [{ alg, kid }, { alg }]),
    ];
    for (const header of headers)
      expect([header, await isValid(forgeBy(own, header))]).toEqual([header, false]);
  });

  test("a public key is not a secret key, in any of its forms, neither for tokens nor for the links of mails", async () => {
    const kid = await kidOf(own);
    const previousSecret = [...SECRET_KEY].reverse().join("");
    const variables = { ...env, AUTH_SECRET_KEY_PREVIOUS: previousSecret };
    const [tokens, withoutPrevious] = [await tokensOf(variables), await tokensOf(env)];
    const published = [own, next, previous].flatMap(({ publicPem }) => {
      const key = createPublicKey(publicPem);
      const jwk = key.export({ format: "jwk" });
      const der = key.export({ type: "spki", format: "der" }).toString("latin1");
      return [publicPem, publicPem.trim(), der, JSON.stringify(jwk), String(jwk.x)];
    });
    for (const secret of [...published, kid, ""]) {
      for (const header of [{}, { kid }, { alg }, { alg, kid }])
        for (const { isValid } of [tokens, withoutPrevious])
          expect(await isValid(forge({ header, claims, key: secret }))).toBe(false);
      for (const material of [secret, Buffer.from(secret, "latin1"), Buffer.from(secret, "base64url")])
        expect(tokens.isValidLink(material)).toBe(false);
    }
    expect(tokens.isValidLink(next.privatePem)).toBe(false);
    expect(tokens.isValidLink(previousSecret)).toBe(true);
  });

  test("a key in the header of the token is not used", async () => {
    const { isValid } = await tokensOf(env);
    const key = createPublicKey(unknown.publicPem);
    const jwk = key.export({ format: "jwk" });
    const x5c = [key.export({ type: "spki", format: "der" }).toString("base64")];
    const jku = "http://127.0.0.1:1/keys";
    for (const header of [{ jwk }, { jwk, kid: await kidOf(own) }, { x5c }, { jku }])
      expect(await isValid(forgeBy(unknown, { alg, ...header }))).toBe(false);
  });

  test("a token without a signature, or with a changed or trivial one, is rejected", async () => {
    const { sign, isValid } = await tokensOf(env);
    const token = await sign();
    const [header = "", content = "", signature = ""] = token.split(".");
    const bytes = Buffer.from(signature, "base64url");
    expect(bytes.length).toBe(64);
    const changed = [0, 31, 32, 63].map((at) => bytes.map((byte, index) => byte ^ Number(index === at)));
    const others = [Buffer.alloc(0), Buffer.alloc(64), bytes.subarray(0, 63), Buffer.concat([bytes], 65)];
    const signatures = [...changed, ...others].map((one) => Buffer.from(one).toString("base64url"));
    for (const other of [...signatures, `${signature}=`])
      expect(await isValid(`${header}.${content}.${other}`)).toBe(false);
    const claims = { ...openToken(token).claims, sub: "8" };
    expect(await isValid(`${header}.${encode(claims)}.${signature}`)).toBe(false);
    expect(await isValid(`${encode({ alg: "none" })}.${content}.`)).toBe(false);
  });

  test("AUTH_SECRET_KEY_PREVIOUS verifies tokens of HS256 only, with any kid", async () => {
    const { isValid } = await tokensOf({ ...env, AUTH_SECRET_KEY_PREVIOUS: SECRET_KEY });
    for (const header of [{}, { kid: await kidOf(own) }])
      expect(await isValid(forge({ header, claims }))).toBe(true);
    expect(await isValid(forge({ claims, algorithm: "HS512" }))).toBe(false);
    expect(await (await tokensOf(env)).isValid(forge({ claims }))).toBe(false);
  });

  test.each(["AUTH_NEXT_PUBLIC_KEY", "AUTH_PREVIOUS_PUBLIC_KEY"])(
    "%s verifies tokens beside a secret key and beside a private key of the other algorithm",
    async (name) => {
      const token = forgeBy(next, { alg, kid: await kidOf(next) });
      for (const variables of [
        {},
        { AUTH_ALGORITHM: "HS512" },
        privateKeyVariables(otherAlgorithm, createKeyPair(otherAlgorithm)),
      ]) {
        expect(await (await tokensOf({ ...variables, [name]: next.publicPem })).isValid(token)).toBe(true);
        expect(await (await tokensOf(variables)).isValid(token)).toBe(false);
      }
    },
  );
});

test("AUTH_ISSUER and AUTH_AUDIENCE are in every token and required in each, one audience or an array with it", async () => {
  const issuer = "https://accounts.example.com";
  const audience = "https://api.example.com";
  const both = await tokensOf({ AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience });
  const withIssuer = await tokensOf({ AUTH_ISSUER: issuer });
  const withAudience = await tokensOf({ AUTH_AUDIENCE: audience });
  const token = await both.sign();
  expect(openToken(token).claims).toMatchObject({ iss: issuer, aud: audience });
  expect(await both.isValid(token)).toBe(true);
  const isValid = (tokens: typeof both, added: object) =>
    tokens.isValid(forge({ claims: { ...claims, ...added } }));
  expect(await isValid(withIssuer, { iss: issuer })).toBe(true);
  for (const iss of [undefined, `${issuer}/`, [issuer], null])
    expect([iss, await isValid(withIssuer, { iss })]).toEqual([iss, false]);
  for (const aud of [audience, ["other", audience]]) expect(await isValid(withAudience, { aud })).toBe(true);
  for (const aud of [undefined, [], ["other"], [[audience]], `x${audience}`, { [audience]: true }, null])
    expect([aud, await isValid(withAudience, { aud })]).toEqual([aud, false]);
});

test("GET /.well-known/jwks.json returns every public key, which can be cached for five minutes by everyone", async () => {
  const [own, next, previous] = [createKeyPair("ES256"), createKeyPair("EdDSA"), createKeyPair("ES256")];
  const env = {
    ...privateKeyVariables("ES256", own),
    AUTH_NEXT_PUBLIC_KEY: next.publicPem,
    AUTH_PREVIOUS_PUBLIC_KEY: previous.publicPem,
  };
  for (const [variables, count] of [
    [env, 3],
    [{}, 0],
  ] as const) {
    await using service = await startService({ env: variables });
    const { status, text, headers } = await service.call("GET", "/.well-known/jwks.json");
    const { keys } = await tokensOf(variables);
    expect([status, text, keys.length]).toEqual([200, JSON.stringify({ keys }), count]);
    expect(headers.get("cache-control")).toBe("public, max-age=300");
    expect(headers.get("content-type")).toStartWith("application/json");
  }
});
