/** The keys of ES256 and EdDSA: which texts are accepted, how keys exclude each other, and that no error contains a key. */
import { describe, expect, test } from "bun:test";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { describeEnvironment } from "../src/describe.ts";
import type { Variables } from "../src/parse.ts";
import { errorsOf as errorsFrom, parse } from "./support/parse.ts";

const pkcs8 = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" }).toString();
const spki = (key: KeyObject) => key.export({ type: "spki", format: "pem" }).toString();
const pemsOf = ({ privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject }) => ({
  privateKey,
  private: pkcs8(privateKey),
  public: spki(publicKey),
});
const newEs256 = () => pemsOf(generateKeyPairSync("ec", { namedCurve: "P-256" }));
const newEdDsa = () => pemsOf(generateKeyPairSync("ed25519"));

const es256 = newEs256();
const eddsa = newEdDsa();
const other = newEdDsa();
const rsa = pemsOf(generateKeyPairSync("rsa", { modulusLength: 2048 }));
const p384 = pemsOf(generateKeyPairSync("ec", { namedCurve: "P-384" }));
const encrypted = eddsa.privateKey
  .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" })
  .toString();
const sec1 = es256.privateKey.export({ type: "sec1", format: "pem" }).toString();
const oldEncrypted =
  "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAA==\n-----END EC PRIVATE KEY-----\n";

/** The errors of a configuration; fails if one contains a line of a key in it. */
function errorsOf(variables: Variables): readonly string[] {
  const errors = errorsFrom(variables);
  for (const line of Object.values(variables).flatMap((text = "") => text.split(/\n|\\n/)))
    if (line.length >= 12) expect(errors.join()).not.toContain(line);
  return errors;
}

const withEdDsa = { AUTH_ALGORITHM: "EdDSA", AUTH_PRIVATE_KEY: eddsa.private };

describe("a private key", () => {
  test.each([
    ["ES256", es256.private, { kty: "EC", crv: "P-256" }],
    ["EdDSA", eddsa.private, { kty: "OKP", crv: "Ed25519" }],
  ] as const)(
    "of %s is accepted with its algorithm only, and replaces the secret key",
    (algorithm, pem, jwk) => {
      const variables = { AUTH_PRIVATE_KEY: pem, AUTH_ALGORITHM: algorithm };
      const environments = [
        variables,
        { ...variables, DATABASE_URL: "postgres://localhost/d" },
        { ...variables, DATABASE_URL: "postgres://localhost/d", NODE_ENV: "production" },
      ];
      for (const environment of environments) {
        const { values, warnings } = parse(environment);
        expect(values.AUTH_PRIVATE_KEY).toMatchObject({ algorithm, pem, jwk });
        expect([values.AUTH_SECRET_KEY, warnings]).toEqual([null, []]);
      }
      for (const wrong of ["HS256", "HS384", "HS512", "ES256", "EdDSA"].filter((one) => one !== algorithm)) {
        expect(errorsOf({ ...variables, AUTH_ALGORITHM: wrong })).toEqual([
          `AUTH_ALGORITHM: is ${wrong}, but AUTH_PRIVATE_KEY is a key for ${algorithm}; accepted: ${algorithm}`,
        ]);
      }
      expect(errorsOf({ AUTH_PRIVATE_KEY: pem })).toHaveLength(1);
    },
  );

  test("has the same value from a file, with CRLF, with escaped line breaks and surrounded by white space", () => {
    const { values } = parse(withEdDsa);
    const texts = [
      eddsa.private.replaceAll("\n", "\r\n"),
      eddsa.private.replaceAll("\n", "\\n"),
      ` \n${eddsa.private}\n `,
    ];
    for (const AUTH_PRIVATE_KEY of texts) {
      expect(parse({ ...withEdDsa, AUTH_PRIVATE_KEY }).values).toEqual(values);
      const fromFile = { AUTH_ALGORITHM: "EdDSA", AUTH_PRIVATE_KEY_FILE: "/key" };
      expect(parse(fromFile, { files: { "/key": AUTH_PRIVATE_KEY } }).values).toEqual(values);
    }
  });

  test("is required with ES256 and EdDSA, even if there is a secret key", () => {
    for (const AUTH_ALGORITHM of ["ES256", "EdDSA"]) {
      const required = expect.stringMatching(
        new RegExp(`^AUTH_PRIVATE_KEY: is required with ${AUTH_ALGORITHM}; accepted: `),
      );
      expect(errorsOf({ AUTH_ALGORITHM })).toEqual([required]);
      expect(errorsOf({ AUTH_ALGORITHM, AUTH_SECRET_KEY: SECRET_KEY })).toEqual([
        required,
        "AUTH_SECRET_KEY: cannot be combined with AUTH_PRIVATE_KEY; accepted: one of the two",
      ]);
      expect(errorsOf({ AUTH_ALGORITHM, AUTH_PRIVATE_KEY_FILE: "/missing" })).toEqual([
        "AUTH_PRIVATE_KEY_FILE: cannot be read; accepted: the path of a readable file",
      ]);
    }
  });

  test("cannot be combined with a secret key, but with a previous one of HS256", () => {
    expect(errorsOf({ ...withEdDsa, AUTH_SECRET_KEY: SECRET_KEY })).toEqual([
      "AUTH_SECRET_KEY: cannot be combined with AUTH_PRIVATE_KEY; accepted: one of the two",
    ]);
    expect(errorsOf({ ...withEdDsa, AUTH_SECRET_KEY_PREVIOUS: SECRET_KEY })).toEqual([]);
    const production = { NODE_ENV: "production", DATABASE_URL: "postgres://localhost/d" };
    const errorsWith = (key: string) =>
      errorsOf({ ...withEdDsa, ...production, AUTH_SECRET_KEY_PREVIOUS: key });
    expect(errorsWith(SECRET_KEY.slice(0, 32))).toEqual([]);
    expect(errorsWith(SECRET_KEY.slice(0, 31))).toEqual([
      expect.stringMatching(/^AUTH_SECRET_KEY_PREVIOUS: is shorter than the 32 bytes that HS256 requires; /),
    ]);
  });

  test.each([
    ["an RSA key", rsa.private, "is a key of type RSA"],
    ["a P-384 key", p384.private, "is a key of type P-384"],
    ["an encrypted key", encrypted, "is encrypted"],
    ["a key that OpenSSL encrypted in its old format", oldEncrypted, "is encrypted"],
    ["a public key", eddsa.public, "is a public key"],
    ["SEC 1 in place of PKCS#8", sec1, "is not PKCS#8: convert it with openssl pkcs8 -topk8 -nocrypt"],
    ["two keys", es256.private + eddsa.private, "contains several PEM blocks"],
    ["a certificate", eddsa.public.replaceAll("PUBLIC KEY", "CERTIFICATE"), "is another kind of PEM block"],
    ["text before the block", `my key\n${eddsa.private}`, "is not a PEM block"],
    ["a truncated key", eddsa.private.replace(/.{8}\n-----END/, "\n-----END"), "is not a valid key"],
    ["a key without its end", eddsa.private.slice(0, 60), "is not a PEM block"],
  ])("cannot be %s", (_name, pem, problem) => {
    expect(errorsOf({ AUTH_ALGORITHM: "EdDSA", AUTH_PRIVATE_KEY: pem })).toEqual([
      `AUTH_PRIVATE_KEY: ${problem}; accepted: a P-256 or Ed25519 private key as PEM (PKCS#8, not encrypted)`,
    ]);
  });
});

describe.each(["AUTH_NEXT_PUBLIC_KEY", "AUTH_PREVIOUS_PUBLIC_KEY"] as const)("%s", (name) => {
  test("is accepted with a key pair and with a secret key, also from a file, and printed as one line", () => {
    const signing = [withEdDsa, { AUTH_ALGORITHM: "ES256", AUTH_PRIVATE_KEY: es256.private }];
    for (const variables of [...signing, { AUTH_SECRET_KEY: SECRET_KEY }]) {
      const environment = parse({ ...variables, [name]: other.public });
      expect(environment.values[name]?.algorithm).toBe("EdDSA");
      const files = { "/key": other.public };
      expect(parse({ ...variables, [`${name}_FILE`]: "/key" }, { files }).values).toEqual(environment.values);
      const line = `${name}=${other.public.trim().replaceAll("\n", "\\n")}`;
      expect(describeEnvironment(environment).split("\n")).toContain(line);
      expect(describeEnvironment(environment)).not.toContain(eddsa.private.split("\n")[1] ?? "");
    }
  });

  test.each([
    ["an RSA key", rsa.public, "is a key of type RSA"],
    ["a P-384 key", p384.public, "is a key of type P-384"],
    ["a private key", other.private, "is a private key"],
    ["an encrypted key", encrypted, "is encrypted"],
    ["two keys", other.public + es256.public, "contains several PEM blocks"],
    [
      "a private key under the label of a public one",
      other.private.replaceAll("PRIVATE", "PUBLIC"),
      "is not a valid key",
    ],
  ])("cannot be %s", (_name, pem, problem) => {
    expect(errorsOf({ ...withEdDsa, [name]: pem })).toEqual([
      `${name}: ${problem}; accepted: a P-256 or Ed25519 public key as PEM (SPKI)`,
    ]);
  });

  test("cannot be the key of AUTH_PRIVATE_KEY", () => {
    expect(errorsOf({ ...withEdDsa, [name]: eddsa.public })).toEqual([
      `${name}: is the key of AUTH_PRIVATE_KEY, so both have the same kid; accepted: another key`,
    ]);
  });
});

test("the next and the previous key cannot be the same", () => {
  const keys = { AUTH_NEXT_PUBLIC_KEY: other.public, AUTH_PREVIOUS_PUBLIC_KEY: other.public };
  expect(errorsOf({ ...withEdDsa, ...keys })).toEqual([
    "AUTH_PREVIOUS_PUBLIC_KEY: is the key of AUTH_NEXT_PUBLIC_KEY, so both have the same kid; accepted: another key",
  ]);
});

test.each(["AUTH_SECRET_KEY", "AUTH_SECRET_KEY_PREVIOUS"])(
  "%s cannot be a public key, with which everybody could sign",
  (name) => {
    for (const pem of [eddsa.public, es256.public.replaceAll("\n", "\\n")]) {
      expect(errorsOf({ AUTH_SECRET_KEY: SECRET_KEY, [name]: pem })).toEqual([
        expect.stringMatching(new RegExp(`^${name}: is a PEM block; accepted: `)),
      ]);
    }
  },
);
