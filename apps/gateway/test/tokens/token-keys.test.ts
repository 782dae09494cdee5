/** The keys of tokens: their identifiers, and the keys that are derived from them. */
import { expect, test } from "bun:test";
import { createHmac, createPrivateKey } from "node:crypto";
import { createKeyPair, SECRET_KEY } from "@latchkey/testing/keys";
import { calculateJwkThumbprint, type JWK } from "jose";
import { importTokenKeys } from "../../src/tokens/token-keys.ts";
import { readConfig } from "../support/service.ts";

const es256 = createKeyPair("ES256");

function importKeys(env: Readonly<Record<string, string | undefined>>) {
  return importTokenKeys(readConfig(env).tokenKeys, () => {
    throw new Error("No secret key is opened");
  });
}
const withPrivateKey = {
  AUTH_SECRET_KEY: undefined,
  AUTH_ALGORITHM: "ES256",
  AUTH_PRIVATE_KEY: es256.privatePem,
};

test("the public keys are in the order current, next, previous, named by their thumbprints, without a private part", async () => {
  const [next, previous] = [createKeyPair("EdDSA"), createKeyPair("ES256")];
  const { signing, verification, publicKeySet } = await importKeys({
    ...withPrivateKey,
    AUTH_NEXT_PUBLIC_KEY: next.publicPem,
    AUTH_PREVIOUS_PUBLIC_KEY: previous.publicPem,
    AUTH_SECRET_KEY_PREVIOUS: SECRET_KEY,
  });
  const expected = await Promise.all(
    [es256, next, previous].map(async ({ privatePem }) => {
      const { d, ...jwk }: JWK = createPrivateKey(privatePem).export({ format: "jwk" });
      expect(d).toBeString();
      const alg = jwk.kty === "EC" ? "ES256" : "EdDSA";
      return { ...jwk, alg, use: "sig", kid: await calculateJwkThumbprint(jwk) };
    }),
  );
  expect(publicKeySet.keys as readonly JWK[]).toEqual(expected);
  expect(signing).toMatchObject({ algorithm: "ES256", kid: expected[0]?.kid });
  expect(signing.key.extractable).toBe(false);
  expect(verification.map(({ algorithm, kid }) => [algorithm, kid])).toEqual([
    ...expected.map(({ alg, kid }): [string, string] => [alg, kid]),
    ["HS256", null],
  ]);
});

test("the thumbprint is that of RFC 8037, appendix A.3", async () => {
  const x = Buffer.from("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "base64url");
  const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), x]).toString("base64");
  const AUTH_NEXT_PUBLIC_KEY = `-----BEGIN PUBLIC KEY-----\n${spki}\n-----END PUBLIC KEY-----`;
  const { publicKeySet } = await importKeys({ AUTH_NEXT_PUBLIC_KEY });
  expect(publicKeySet.keys.map(({ kid }) => kid)).toEqual(["kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"]);
});

test("the stored secret key is opened only if neither a secret nor a private key is configured", async () => {
  await importKeys({});
  await importKeys(withPrivateKey);
  await expect(importKeys({ AUTH_SECRET_KEY: undefined })).rejects.toThrow("No secret key is opened");
});

const hmac = (key: string | Uint8Array, ...parts: (string | Uint8Array)[]) =>
  createHmac("sha256", key)
    .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
    .digest();

test("digests have keys derived with HKDF and SHA-256, without a salt, of the secret key or of the bytes of the private key", async () => {
  const der = createPrivateKey(es256.privatePem).export({ type: "pkcs8", format: "der" });
  for (const [env, material] of [
    [{}, SECRET_KEY],
    [withPrivateKey, der],
  ] as const) {
    const { digests } = await importKeys(env);
    // RFC 5869: extract, then one block of expand.
    const derive = (label: string) => hmac(hmac(Buffer.alloc(32), material), label, Uint8Array.of(1));
    const digest = (key: Buffer, text: string) => hmac(key, text).toString("hex").slice(0, 32);
    expect(digests.email("a@example.org")).toBe(digest(derive("latchkey e-mails"), "a@example.org"));
    expect(digests.network("a@example.org", "192.0.2.1")).toBe(
      digest(derive("latchkey networks"), ["a@example.org", "192.0.2.1"].join("\0")),
    );
  }
});
