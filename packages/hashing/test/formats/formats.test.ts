/**
 * Hashes of other systems, made by them or copied from their own tests (those of Keycloak, ASP.NET and Werkzeug's scrypt are
 * made with Python's hashlib): each is verified as the system does, and a hash that cannot be verified is
 * rejected with a reason.
 */
import { afterAll, expect, test } from "bun:test";
import { scryptSync } from "node:crypto";
import { inFullRun } from "@latchkey/testing/full-run";
import HASH_VECTORS from "@latchkey/testing/hash-vectors";
import {
  createHasher,
  hashFormat,
  parseImportedHash,
  UnsupportedHash,
  WorkerCrashed,
} from "../../src/index.ts";

// On a busy machine, three verifications of bcrypt can take longer than a login may wait.
const hasher = createHasher({ workers: 1, nice: 0, queueSeconds: 60 });
afterAll(() => hasher.close());

const vector = (name: string) => {
  const found = HASH_VECTORS.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`There is no vector ${name}`);
  return found;
};

test.each(HASH_VECTORS.map((given) => [given.name, given] as const))(
  "%s: the password matches, another one does not",
  async (_name, { format, password, hash }) => {
    expect(hashFormat(hash)).toBe(format);
    const passwords = [password, `x${password}`, ""];
    const results = passwords.map((given) => hasher.verifyImported(given, hash));
    expect(await Promise.all(results)).toEqual([true, false, false]);
  },
);

test("of a key that is longer than the digest, the first block decides", async () => {
  for (const name of ["Keycloak pbkdf2-sha256, 64 bytes", "Keycloak pbkdf2, 64 bytes of SHA-1"]) {
    const { password, hash } = vector(name);
    const end = hash.lastIndexOf("$") + 1;
    const key = Buffer.from(hash.slice(end), "base64");
    const changed = (at: number) => {
      const copy = Buffer.from(key);
      copy[at] = (copy[at] ?? 0) ^ 1;
      return hash.slice(0, end) + copy.toString("base64");
    };
    expect(await hasher.verifyImported(password, changed(63))).toBe(true);
    expect(await hasher.verifyImported(password, changed(0))).toBe(false);
  }
});

test("bcrypt reads the first 72 bytes of a password", async () => {
  const { password, hash } = vector("bcrypt $2b$, 100 bytes");
  expect(await hasher.verifyImported(password.slice(0, 36), hash)).toBe(true);
  expect(await hasher.verifyImported(password.slice(0, 35), hash)).toBe(false);
});

test("unused bits in the base64 of bcrypt are ignored", async () => {
  const { password, hash } = vector("bcrypt $2a$");
  const next = (character = "") => String.fromCharCode(character.charCodeAt(0) + 1);
  const changed = `${hash.slice(0, 28)}${next(hash[28])}${hash.slice(29)}`;
  expect(await hasher.verifyImported(password, changed)).toBe(true);
});

test("a hash of bcrypt with the prefix of better-auth's export is verified", async () => {
  const { password, hash } = vector("bcrypt $2a$");
  const prefixed = `better-auth$${hash}`;
  expect(hashFormat(prefixed)).toBe("better_auth_bcrypt");
  expect(await hasher.verifyImported(password, prefixed)).toBe(true);
  expect(await hasher.verifyImported(`x${password}`, prefixed)).toBe(false);
});

test("Firebase's URL-safe alphabet is the same hash", async () => {
  const { password, hash } = HASH_VECTORS.find(({ format }) => format === "firebase_scrypt") ?? {};
  if (!password || !hash) throw new Error("There is no vector of Firebase");
  const urlSafe = hash.replace(/(,s[sk]=|\$)([\w+/=]+)(?=[,$]|$)/g, (text) =>
    text.replaceAll("+", "-").replaceAll("/", "_"),
  );
  expect(urlSafe).toMatch(/[-_]/);
  expect(await hasher.verifyImported(password, urlSafe)).toBe(true);
  expect(await hasher.verifyImported(`x${password}`, urlSafe)).toBe(false);
});

test("better-auth normalises the password", async () => {
  const { password, hash } = vector("better-auth, NFKC");
  expect(password.normalize("NFKC")).not.toBe(password);
  expect(await hasher.verifyImported(password.normalize("NFKC"), hash)).toBe(true);
});

test("a password of more than 256 UTF-16 units is not normalised, which would block the event loop", async () => {
  const password = "e\u0301".repeat(129);
  const salt = "01".repeat(16);
  const key = scryptSync(password, salt, 64, { N: 16_384, r: 16, p: 1, maxmem: 2 ** 26 });
  expect(await hasher.verifyImported(password, `better-auth$${salt}:${key.toHex()}`)).toBe(true);
});

const KEY = Buffer.alloc(32, 1).toString("base64");
const HEX_KEY = "01".repeat(32);
const BCRYPT = "N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";
const ARGON2_TAIL = "$c29tZXNhbHQ$AQEBAQEBAQEBAQEBAQEBAQ";

test.each([
  [`pbkdf2_sha256$2000001$salt$${KEY}`, "iterations"],
  [`pbkdf2_md5$1000$salt$${KEY}`, "digest"],
  ["pbkdf2_sha256$1000$salt$AQEB", "key"],
  [`$2b$14$${BCRYPT}`, "cost"],
  [`$2b$03$${BCRYPT}`, "cost"],
  [`$2$10$${BCRYPT}`, "malformed"],
  [`$2x$10$${BCRYPT}`, "defective"],
  [`$argon2id$m=4096,t=3,p=1${ARGON2_TAIL}`, "version"],
  [`$argon2id$v=16$m=4096,t=3,p=1${ARGON2_TAIL}`, "The version of Argon2 must be 19."],
  [`$argon2id$v=19$m=131073,t=1,p=1${ARGON2_TAIL}`, "memory"],
  [`argon2$argon2id$v=19$m=131072,t=5,p=8${ARGON2_TAIL}`, "passes"],
  [`$argon2id$v=19$m=4096,t=3,p=17${ARGON2_TAIL}`, "parallelism"],
  [`$argon2d$v=19$m=4096,t=3,p=1${ARGON2_TAIL}`, "malformed"],
  // Unused bits that are set: Bun's verifier fails.
  [`$argon2id$v=19$m=4096,t=3,p=1${ARGON2_TAIL.slice(0, -1)}a`, "malformed"],
  [`$scrypt$ln=16384,r=8,p=1$c2FsdA$${KEY}`, "logarithm"],
  [`$scrypt$ln=18,r=8,p=1$c2FsdA$${KEY}`, "memory"],
  [`$argon2id$v=19$m=128,t=17,p=16${ARGON2_TAIL}`, "parallelism"],
  [`scrypt$16384$salt$8$17$${KEY}`, "The parallelism p of scrypt must be from 1 to 16."],
  [`$scrypt$ln=1,r=65,p=1$c2FsdA$${KEY}`, "The block size r of scrypt must be from 1 to 64."],
  [`$scrypt$ln=16,r=1,p=1$c2FsdA$${KEY}`, "The cost N of scrypt must be from 2 to 32768."],
  [`$scrypt$ln=17,r=8,p=5$c2FsdA$${KEY}`, "Memory × parallelism"],
  [`scrypt:16383:8:1$salt$${HEX_KEY}`, "power of two"],
  // The key is encrypted from as many bytes as the signer key has, so no password matches a longer one.
  [`$fbscrypt$v=1,n=1,r=8,p=1,sk=${KEY.slice(0, 28)}$c2FsdA==$${KEY}`, "key"],
  [`$fbscrypt$v=1,n=21,r=8,p=1,ss=Bw==,sk=${KEY}$c2FsdA==$${KEY}`, "logarithm"],
  ["better-auth$abc", "malformed"],
  ["aspnet$AgAA", "malformed"],
  ["$6$salt$hash", "not supported"],
  ["", "not supported"],
])("%s is rejected with a reason", async (hash, reason) => {
  expect(() => parseImportedHash(hash)).toThrow(UnsupportedHash);
  expect(() => parseImportedHash(hash)).toThrow(reason);
  // Stored nevertheless, it is a failure of the verifier, not a wrong password.
  expect(() => hasher.verifyImported("password", hash)).toThrow(WorkerCrashed);
});

const AT_THE_BOUNDS = [
  `pbkdf2_sha256$2000000$salt$${KEY}`,
  `$2b$13$${BCRYPT}`,
  `$argon2id$v=19$m=131072,t=4,p=8${ARGON2_TAIL}`,
  `$scrypt$ln=17,r=8,p=4$c2FsdA$${KEY}`,
  `scrypt$16384$salt$8$5$${KEY}`,
  `$scrypt$ln=19,r=2,p=1$c2FsdA$${KEY}`,
];

test.each(AT_THE_BOUNDS)("%s is within the bounds", (hash) => {
  expect(() => parseImportedHash(hash)).not.toThrow();
});

// The costliest hashes; others of each format are verified above and below.
inFullRun(test).each(AT_THE_BOUNDS)("%s can be verified", async (hash) => {
  expect(await hasher.verifyImported("password", hash)).toBe(false);
});

/** Around each bound, also with all others: `#` is the next value. */
const key = (bytes: number) => Buffer.alloc(bytes, 1).toString("base64").replaceAll("=", "");
const [SALTS, KEYS] = [[1, 7, 8, 64, 65].map(key), [15, 16, 20, 32, 64, 65, 128, 129].map(key)];
const [LANES, LOGS] = [[0, 1, 2, 16, 17] as const, [0, 1, "01", 15, 16, 17, 20, 21]];
const ITERATIONS = [0, 1, "01", 1000, 2_000_000, 2_000_001];
const EDGES: Readonly<Record<string, readonly (readonly (string | number)[])[]>> = {
  "$pbkdf2-#$#$#$#": [["sha1", "sha256", "sha512", "md5"], ITERATIONS, SALTS, KEYS],
  "pbkdf2_#$#$#$#": [["sha1", "sha256"], ITERATIONS, SALTS, KEYS],
  "$2#$#$#": [
    ["", "a", "b", "x", "y"],
    ["03", "04", "4", "05", 13, 14],
    [BCRYPT, BCRYPT.slice(1)],
  ],
  "$argon2#$v=#$m=#,t=#,p=#$c29tZXNhbHQ$AQEBAQEBAQEBAQEBAQEBAQ": [
    ...[
      ["d", "i", "id"],
      [16, 19, "019"],
      [7, 8, 128, "0128", 131_072, 131_073],
      [0, 1, "01", 256, 257],
      LANES,
    ],
  ],
  "$argon2id$v=19$m=8,t=1,p=1$#$#": [SALTS, KEYS],
  "$scrypt$ln=#,r=#,p=#$c2FsdA$AQEBAQEBAQEBAQEBAQEBAQ": [LOGS, [0, 1, "01", 2, 64, 65], LANES],
  "$scrypt$ln=1,r=1,p=1$#$#": [SALTS, KEYS],
  "$fbscrypt$v=1,n=#,r=#,p=#,sk=#$c2FsdA$AQEBAQEBAQEBAQEBAQEBAQ": [LOGS, [1, 8, 64], LANES, KEYS],
  "better-auth$#:#": [
    ["01", "1", "01".repeat(64)],
    [15, 16, 64, 128, 129].map((bytes) => "01".repeat(bytes)),
  ],
};
/** A bound of validity is also verified with the smallest values beside it, which take less. */
const MAX_TEST_ITERATIONS = 600_000;

test("what is accepted can be verified", async () => {
  let verified = 0;
  for (const [template, edges] of Object.entries(EDGES)) {
    const fill = (texts: string[], values: readonly (string | number)[]) =>
      texts.flatMap((text) => values.map((value) => text.replace("#", () => `${value}`)));
    for (const hash of edges.reduce(fill, [template])) {
      const parsed = await Promise.try(parseImportedHash, hash).catch((error) => {
        expect(error).toBeInstanceOf(UnsupportedHash);
      });
      if (!parsed || parsed.iterations > MAX_TEST_ITERATIONS) continue;
      const result = hasher.verifyImported("password", hash).catch((error) => error);
      expect([hash, await result]).toEqual([hash, false]);
      verified += 1;
    }
  }
  expect(verified).toBeGreaterThan(500);
});
