/** The keys of ES256 and EdDSA: which texts are accepted, how keys exclude each other, and that no error contains a key. */
import { describe, expect, test } from "bun:test";
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { createKeyPair, SECRET_KEY } from "@latchkey/testing/keys";
import { describeEnvironment } from "../src/describe.ts";
import type { Variables } from "../src/parse.ts";
import { VARIABLES, type VariableName } from "../src/variables.ts";
import { errorsOf as errorsFrom, parse } from "./support/parse.ts";

const PKCS8 = { type: "pkcs8", format: "pem" } as const;
const SPKI = { type: "spki", format: "pem" } as const;
const es256 = createKeyPair("ES256");
const eddsa = createKeyPair("EdDSA");
const other = createKeyPair("EdDSA");
const rsa = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: PKCS8,
  publicKeyEncoding: SPKI,
});
const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey.export(PKCS8).toString();
const encrypted = createPrivateKey(eddsa.privatePem)
  .export({ ...PKCS8, cipher: "aes-256-cbc", passphrase: "x" })
  .toString();
const sec1 = createPrivateKey(es256.privatePem).export({ type: "sec1", format: "pem" }).toString();
/** As old releases of OpenSSL encrypt. */
const sec1Encrypted = sec1.replace("\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n");
const certificate = eddsa.publicPem.replaceAll("PUBLIC KEY", "CERTIFICATE");
const truncated = eddsa.privatePem.replace(/.{8}\n-----END/, "\n-----END");
const relabelled = other.privatePem.replaceAll("PRIVATE", "PUBLIC");

/** The errors of a configuration; fails if one contains a line of a key in it. */
function errorsOf(variables: Variables): readonly string[] {
  const errors = errorsFrom(variables);
  for (const line of Object.values(variables).flatMap((text = "") => text.split(/\n|\\n/)))
    if (line.length >= 12) expect(errors.join()).not.toContain(line);
  return errors;
}

const POSTGRES = { DATABASE_URL: "postgres://localhost/d" };
const PRODUCTION = { ...POSTGRES, NODE_ENV: "production", TODOS_ENABLED: "false" };
const withEdDsa = { AUTH_ALGORITHM: "EdDSA", AUTH_PRIVATE_KEY: eddsa.privatePem };
const withEs256 = { AUTH_ALGORITHM: "ES256", AUTH_PRIVATE_KEY: es256.privatePem };
const SECOND_KEY = "AUTH_SECRET_KEY: cannot be combined with AUTH_PRIVATE_KEY; accepted: one of the two";

describe("a private key", () => {
  test.each([
    ["ES256", withEs256, { kty: "EC", crv: "P-256" }],
    ["EdDSA", withEdDsa, { kty: "OKP", crv: "Ed25519" }],
  ])(
    "of %s is accepted with its algorithm only, and replaces the secret key",
    (algorithm, variables, jwk) => {
      for (const others of [{}, POSTGRES, PRODUCTION]) {
        const { values, warnings } = parse({ ...variables, ...others });
        const pem = variables.AUTH_PRIVATE_KEY;
        expect<object | null>(values.AUTH_PRIVATE_KEY).toMatchObject({ algorithm, pem, jwk });
        expect([values.AUTH_SECRET_KEY, warnings]).toEqual([null, []]);
      }
      for (const wrong of ["HS256", "HS384", "HS512", "ES256", "EdDSA"].filter((one) => one !== algorithm)) {
        expect(errorsOf({ ...variables, AUTH_ALGORITHM: wrong })).toEqual([
          `AUTH_ALGORITHM: is ${wrong}, but AUTH_PRIVATE_KEY is a key for ${algorithm}; accepted: ${algorithm}`,
        ]);
      }
    },
  );

  test("has the same value from a file, with CRLF, with escaped line breaks and surrounded by white space", () => {
    const { values } = parse(withEdDsa);
    const pem = eddsa.privatePem;
    for (const text of [pem.replaceAll("\n", "\r\n"), pem.replaceAll("\n", "\\n"), ` \n${pem}\n `]) {
      expect(parse({ ...withEdDsa, AUTH_PRIVATE_KEY: text }).values).toEqual(values);
      const fromFile = { AUTH_ALGORITHM: "EdDSA", AUTH_PRIVATE_KEY_FILE: "/key" };
      expect(parse(fromFile, { files: { "/key": text } }).values).toEqual(values);
    }
  });

  test.each(["ES256", "EdDSA"])("is required with %s, even if there is a secret key", (algorithm) => {
    const required = `AUTH_PRIVATE_KEY: is required with ${algorithm}; accepted: ${VARIABLES.AUTH_PRIVATE_KEY.accepted}`;
    const errors = errorsOf({ AUTH_ALGORITHM: algorithm, AUTH_SECRET_KEY: SECRET_KEY });
    expect(errors).toEqual([required, SECOND_KEY]);
    expect(errorsOf({ AUTH_ALGORITHM: algorithm, AUTH_PRIVATE_KEY_FILE: "/missing" })).toEqual([
      "AUTH_PRIVATE_KEY_FILE: cannot be read; accepted: the path of a readable file",
    ]);
  });

  test("cannot be combined with a secret key, but with a previous one of HS256", () => {
    expect(errorsOf({ ...withEdDsa, AUTH_SECRET_KEY: SECRET_KEY })).toEqual([SECOND_KEY]);
    const errorsWith = (key: string) =>
      errorsOf({ ...withEdDsa, ...PRODUCTION, AUTH_SECRET_KEY_PREVIOUS: key });
    expect(errorsWith(SECRET_KEY.slice(0, 32))).toEqual([]);
    expect(errorsWith(SECRET_KEY.slice(0, 31))).toEqual([
      expect.stringMatching(/^AUTH_SECRET_KEY_PREVIOUS: is shorter than the 32 bytes that HS256 requires; /),
    ]);
  });
});

const PUBLIC_KEYS = ["AUTH_NEXT_PUBLIC_KEY", "AUTH_PREVIOUS_PUBLIC_KEY"] as const;

test.each<[name: VariableName, problem: string, ...pems: string[]]>([
  ["AUTH_PRIVATE_KEY", "is a key of type RSA", rsa.privateKey],
  ["AUTH_PRIVATE_KEY", "is a key of type P-384", p384],
  ["AUTH_PRIVATE_KEY", "is encrypted", encrypted, sec1Encrypted],
  ["AUTH_PRIVATE_KEY", "is a public key", eddsa.publicPem],
  ["AUTH_PRIVATE_KEY", "is not PKCS#8: convert it with openssl pkcs8 -topk8 -nocrypt", sec1],
  ["AUTH_PRIVATE_KEY", "contains several PEM blocks", es256.privatePem + eddsa.privatePem],
  ["AUTH_PRIVATE_KEY", "is another kind of PEM block", certificate],
  ["AUTH_PRIVATE_KEY", "is not a PEM block", `my key\n${eddsa.privatePem}`, eddsa.privatePem.slice(0, 60)],
  ["AUTH_PRIVATE_KEY", "is not a valid key", truncated],
  ["AUTH_NEXT_PUBLIC_KEY", "is a key of type RSA", rsa.publicKey],
  ["AUTH_NEXT_PUBLIC_KEY", "is a private key", other.privatePem],
  ["AUTH_NEXT_PUBLIC_KEY", "is not a valid key", relabelled],
  // Everybody could sign with a public key.
  ["AUTH_SECRET_KEY", "is a PEM block", eddsa.publicPem, es256.publicPem.replaceAll("\n", "\\n")],
  ["AUTH_SECRET_KEY_PREVIOUS", "is a PEM block", eddsa.publicPem],
])("%s: a text that %s is rejected without quoting it", (name, problem, ...pems) => {
  const { accepted } = VARIABLES[name];
  for (const pem of pems)
    expect(errorsOf({ ...withEdDsa, [name]: pem })).toEqual([`${name}: ${problem}; accepted: ${accepted}`]);
});

test.each(PUBLIC_KEYS)(
  "%s is accepted with a key pair and with a secret key, also from a file, and printed as one line",
  (name) => {
    for (const variables of [withEdDsa, withEs256, { AUTH_SECRET_KEY: SECRET_KEY }]) {
      const environment = parse({ ...variables, [name]: other.publicPem });
      expect(environment.values[name]?.algorithm).toBe("EdDSA");
      const files = { "/key": other.publicPem };
      expect(parse({ ...variables, [`${name}_FILE`]: "/key" }, { files }).values).toEqual(environment.values);
      const line = `${name}=${other.publicPem.trim().replaceAll("\n", "\\n")}`;
      expect(describeEnvironment(environment).split("\n")).toContain(line);
      expect(describeEnvironment(environment)).not.toContain(eddsa.privatePem.split("\n")[1] ?? "");
    }
  },
);

test("two of the key pairs cannot be the same", () => {
  const sameAs = (name: string) => `is the key of ${name}, so both have the same kid; accepted: another key`;
  for (const name of PUBLIC_KEYS)
    expect(errorsOf({ ...withEdDsa, [name]: eddsa.publicPem })).toEqual([
      `${name}: ${sameAs("AUTH_PRIVATE_KEY")}`,
    ]);
  const [next, previous] = PUBLIC_KEYS;
  expect(errorsOf({ ...withEdDsa, [next]: other.publicPem, [previous]: other.publicPem })).toEqual([
    `${previous}: ${sameAs(next)}`,
  ]);
});
