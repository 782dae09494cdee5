/** Tokens of ES256 and EdDSA: which key verifies which token, and that no key verifies tokens of another algorithm. */
import { describe, expect, test } from "bun:test";
import { createPublicKey } from "node:crypto";
import { createKeyPair, type KeyPairPem, privateKeyVariables } from "@latchkey/testing/keys";
import { createTokens } from "../../src/tokens/access-tokens.ts";
import { importTokenKeys } from "../../src/tokens/token-keys.ts";
import { encode, forge, forgeWithPrivateKey, openToken } from "../support/forge-token.ts";
import { readConfig, SECRET_KEY, startService } from "../support/service.ts";

const exp = 4_000_000_000;
const claims = { sub: "7", exp };
const ALGORITHMS = ["ES256", "EdDSA"] as const;
type Variables = Readonly<Record<string, string | undefined>>;

async function tokensOf(env: Variables) {
  const { auth } = readConfig(env);
  const keys = await importTokenKeys({ ...auth, openSecretKey: () => SECRET_KEY });
  const { sign, verify } = createTokens({ ...auth, keys });
  return {
    keys: keys.publicKeySet.keys,
    sign: () => sign({ id: 7, tokenVersion: 0, roles: [], emailVerified: false }),
    isValid: async (token: string) => (await verify(token)) !== null,
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

  test("a token names its algorithm and the first key of the set", async () => {
    const { keys, sign, isValid } = await tokensOf(env);
    const token = await sign();
    expect(openToken(token).header).toEqual({ alg, kid: keys[0]?.kid, typ: "JWT" });
    expect(await isValid(token)).toBe(true);
  });

  test("the own, the next and the previous key verify, and no other", async () => {
    const { isValid } = await tokensOf(env);
    for (const pair of [own, next, previous, unknown]) {
      const kid = await kidOf(pair);
      for (const header of [{ alg, kid }, { alg }])
        expect(await isValid(forgeBy(pair, header))).toBe(pair !== unknown);
    }
  });

  test("a kid that is not that of the signing key is rejected", async () => {
    const { isValid } = await tokensOf(env);
    const kid = await kidOf(own);
    for (const wrong of [await kidOf(next), "", kid.toUpperCase(), ` ${kid}`, null, 0, [kid]])
      expect([wrong, await isValid(forgeBy(own, { alg, kid: wrong }))]).toEqual([wrong, false]);
  });

  test("a key verifies tokens of its own algorithm only", async () => {
    const { isValid } = await tokensOf(env);
    const kid = await kidOf(own);
    const names = ["HS256", "ES384", "ES256K", "RS256", "Ed25519", "none", alg.toLowerCase(), undefined];
    for (const other of [otherAlgorithm, ...names]) {
      for (const header of [{ alg: other, kid }, { alg: other }])
        expect([other, await isValid(forgeBy(own, header))]).toEqual([other, false]);
    }
  });

  test("a public key is not a secret key, in any of its forms", async () => {
    const kid = await kidOf(own);
    const key = createPublicKey(own.publicPem);
    const secrets = [
      own.publicPem,
      own.publicPem.trim(),
      key.export({ type: "spki", format: "der" }).toString("latin1"),
      JSON.stringify(key.export({ format: "jwk" })),
      String(key.export({ format: "jwk" }).x),
      kid,
      "",
    ];
    for (const variables of [env, { ...env, AUTH_SECRET_KEY_PREVIOUS: SECRET_KEY }]) {
      const { isValid } = await tokensOf(variables);
      for (const secret of secrets) {
        for (const header of [{}, { kid }, { alg }, { alg, kid }])
          expect(await isValid(forge({ header, claims, key: secret }))).toBe(false);
      }
    }
  });

  test("a key in the header of the token is not used", async () => {
    const { isValid } = await tokensOf(env);
    const key = createPublicKey(unknown.publicPem);
    const jwk = key.export({ format: "jwk" });
    const x5c = [key.export({ type: "spki", format: "der" }).toString("base64")];
    for (const header of [
      { jwk },
      { jwk, kid: await kidOf(own) },
      { x5c },
      { jku: "http://127.0.0.1:1/keys" },
    ])
      expect(await isValid(forgeBy(unknown, { alg, ...header }))).toBe(false);
  });

  test("a token without a signature, or with a changed or trivial one, is rejected", async () => {
    const { sign, isValid } = await tokensOf(env);
    const token = await sign();
    const [header = "", content = "", signature = ""] = token.split(".");
    const bytes = Buffer.from(signature, "base64url");
    expect(bytes.length).toBe(64);
    const signatures = [
      "",
      Buffer.alloc(64).toString("base64url"),
      bytes.subarray(0, 63).toString("base64url"),
      Buffer.concat([bytes, Buffer.alloc(1)]).toString("base64url"),
      ...[0, 31, 32, 63].map((at) =>
        Buffer.from(bytes.map((byte, index) => byte ^ Number(index === at))).toString("base64url"),
      ),
      `${signature}=`,
    ];
    for (const other of signatures) expect(await isValid(`${header}.${content}.${other}`)).toBe(false);
    const claims = { ...openToken(token).claims, sub: "8" };
    expect(await isValid(`${header}.${encode(claims)}.${signature}`)).toBe(false);
    expect(await isValid(`${encode({ alg: "none" })}.${content}.`)).toBe(false);
  });

  test("AUTH_SECRET_KEY_PREVIOUS verifies tokens of HS256 only, with any kid", async () => {
    const { isValid } = await tokensOf({ ...env, AUTH_SECRET_KEY_PREVIOUS: SECRET_KEY });
    expect(await isValid(forge({ claims }))).toBe(true);
    expect(await isValid(forge({ header: { kid: await kidOf(own) }, claims }))).toBe(true);
    expect(await isValid(forge({ claims, algorithm: "HS512" }))).toBe(false);
    expect(await isValid(forge({ claims, key: `${SECRET_KEY}x` }))).toBe(false);
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

describe("AUTH_ISSUER and AUTH_AUDIENCE", () => {
  const issuer = "https://accounts.example.com";
  const audience = "https://api.example.com";

  test("are in every token", async () => {
    const { sign, isValid } = await tokensOf({ AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience });
    const token = await sign();
    expect(openToken(token).claims).toMatchObject({ iss: issuer, aud: audience });
    expect(await isValid(token)).toBe(true);
  });

  test.each([
    ["AUTH_ISSUER", { iss: issuer }, true],
    ["AUTH_ISSUER", {}, false],
    ["AUTH_ISSUER", { iss: `${issuer}/` }, false],
    ["AUTH_ISSUER", { iss: [issuer] }, false],
    ["AUTH_ISSUER", { iss: null }, false],
    ["AUTH_AUDIENCE", { aud: audience }, true],
    ["AUTH_AUDIENCE", { aud: ["other", audience] }, true],
    ["AUTH_AUDIENCE", {}, false],
    ["AUTH_AUDIENCE", { aud: [] }, false],
    ["AUTH_AUDIENCE", { aud: ["other"] }, false],
    ["AUTH_AUDIENCE", { aud: [[audience]] }, false],
    ["AUTH_AUDIENCE", { aud: `x${audience}` }, false],
    ["AUTH_AUDIENCE", { aud: { [audience]: true } }, false],
    ["AUTH_AUDIENCE", { aud: null }, false],
  ])("with %s, %j is valid: %p", async (name, added, expected) => {
    const { isValid } = await tokensOf({ [name]: name === "AUTH_ISSUER" ? issuer : audience });
    expect(await isValid(forge({ claims: { ...claims, ...added } }))).toBe(expected);
  });
});

describe("GET /.well-known/jwks.json", () => {
  const PATH = "/.well-known/jwks.json";

  test("is empty with a secret key", async () => {
    await using service = await startService();
    expect(await service.call("GET", PATH)).toMatchObject({ status: 200, text: '{"keys":[]}' });
  });

  test("returns every public key, and can be cached for five minutes by everyone", async () => {
    const [own, next, previous] = [createKeyPair("ES256"), createKeyPair("EdDSA"), createKeyPair("ES256")];
    const env = {
      ...privateKeyVariables("ES256", own),
      AUTH_NEXT_PUBLIC_KEY: next.publicPem,
      AUTH_PREVIOUS_PUBLIC_KEY: previous.publicPem,
    };
    await using service = await startService({ env });
    const { status, body, headers } = await service.call("GET", PATH);
    expect(status).toBe(200);
    expect<unknown>(body).toEqual({ keys: (await tokensOf(env)).keys });
    expect(headers.get("cache-control")).toBe("public, max-age=300");
    expect(headers.get("content-type")).toStartWith("application/json");
  });
});
