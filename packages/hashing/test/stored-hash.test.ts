/** The form and cost of stored hashes, compared with an independent PBKDF2. */
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { pbkdf2Sync } from "node:crypto";
import { createHasher, type Hasher } from "../src/index.ts";
import { Pool } from "../src/pool/pool.ts";

let hasher: Hasher;
beforeAll(() => {
  hasher = createHasher();
});
afterAll(() => hasher.close());

/** The PBKDF2 salt is the UTF-8 bytes of the salt's text. */
function expectedStoredHash(password: string, salt: string): string {
  const digest = pbkdf2Sync(Buffer.from(password, "utf8"), Buffer.from(salt, "utf8"), 600_000, 32, "sha256");
  return `${salt}$${digest.toString("hex")}`;
}

describe("hash", () => {
  test("returns <32 hex>$<64 hex>, equal to an independent PBKDF2 over the salt's text", async () => {
    const password = "pässwörd 🔑 with spaces ";
    const stored = await hasher.hash(password);
    expect(stored).toMatch(/^[0-9a-f]{32}\$[0-9a-f]{64}$/);
    expect(stored).toBe(expectedStoredHash(password, stored.slice(0, 32)));
  });

  test("uses a new salt for each call", async () => {
    const [first, second] = await Promise.all([hasher.hash("same"), hasher.hash("same")]);
    expect(first).not.toBe(second);
  });
});

describe("verify", () => {
  const stored = expectedStoredHash("correct horse", "00112233445566778899aabbccddeeff");

  test("accepts only the correct password for a hash from another implementation", async () => {
    const last = (Number.parseInt(stored.slice(-1), 16) ^ 1).toString(16);
    const results = await Promise.all([
      hasher.verify("correct horse", stored),
      ...["correct horse ", "Correct horse", ""].map((password) => hasher.verify(password, stored)),
      hasher.verify("correct horse", stored.slice(0, -1) + last),
    ]);
    expect(results).toEqual([true, false, false, false, false]);
  });

  test.each([
    "",
    "plain",
    stored.toUpperCase(),
    ` ${stored}`,
    `${stored}\n`,
    `${stored}00`,
    stored.replace("$", ":"),
  ])("returns false for the malformed stored hash %p, after a full derivation", async (malformed) => {
    const before = hasher.stats();
    expect(await hasher.verify("correct horse", malformed)).toBe(false);
    const after = hasher.stats();
    expect(after.iterations - before.iterations).toBe(600_000);
  });
});

test("no digest stays in memory after hash and verify", async () => {
  const submit = spyOn(Pool.prototype, "submit");
  await hasher.verify("secret", await hasher.hash("secret"));
  const digests = await Promise.all(submit.mock.results.map(({ value }) => value));
  submit.mockRestore();
  expect(digests).toEqual([new Uint8Array(32), new Uint8Array(32)]);
});
