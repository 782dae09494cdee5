/** scrypt hashes of passlib (PHC strings), Django, Werkzeug, Firebase (in Supabase's notation) and better-auth. */
import { createCipheriv, type ScryptOptions, scrypt } from "node:crypto";
import { promisify } from "node:util";
import * as format from "./format.ts";

const MAX_PARALLELISM = 16;
const MAX_BLOCK_SIZE = 64;
const MAX_LOG_N = 20;
/** RFC 7914, section 6: N is less than 2^(128 × r / 8). */
const MAX_N_OF_BLOCK_SIZE_1 = 2 ** 15;
/** Memory without overhead, times p. */
const MAX_WORK_BYTES = 512 * 1024 * 1024;
/** The cost of one of the N × r × p steps. */
const ITERATIONS_PER_BLOCK = 8;
/** The cost of scrypt's PBKDF2 calls, as additional steps of N. */
const PBKDF2_STEPS = 3;
/** In UTF-16 units. better-auth accepts at most 128 by default. Normalising 128,000 bytes of combining characters takes 25 s. */
const MAX_NORMALIZED_LENGTH = 256;

type Parameters = Readonly<Record<"n" | "r" | "p", string | number>>;

/** `toKey` converts 32 derived bytes to the stored key. */
type Conversions = Partial<{ toInput(password: string): string; toKey(derived: Buffer): Buffer }>;

const derive = promisify<string, string | Uint8Array, number, ScryptOptions, Buffer>(scrypt);

function createHash(
  { n, ...given }: Parameters,
  salt: string | Uint8Array,
  givenKey: Buffer,
  { toInput = String, toKey }: Conversions = {},
): format.ThreadHash {
  const key = format.checkedKey(givenKey);
  const r = format.bounded("The block size r of scrypt", given.r, MAX_BLOCK_SIZE);
  const maxN = r === 1 ? MAX_N_OF_BLOCK_SIZE_1 : 2 ** MAX_LOG_N;
  const N = format.bounded("The cost N of scrypt", n, maxN, 2);
  if (!Number.isInteger(Math.log2(N)))
    throw new format.UnsupportedHash("The cost N of scrypt must be a power of two.");
  const p = format.bounded("The parallelism p of scrypt", given.p, MAX_PARALLELISM);
  const bytes = 128 * r * (N + p + 2);
  const memoryBytes = format.bounded("The memory of scrypt in bytes", bytes, format.MAX_MEMORY_BYTES);
  format.bounded("Memory × parallelism of scrypt in bytes", 128 * r * N * p, MAX_WORK_BYTES);
  const iterations = ITERATIONS_PER_BLOCK * (N + PBKDF2_STEPS) * r * p;
  const options = { N, r, p, maxmem: 2 * memoryBytes };
  const verify = async (password: string) => {
    const derived = await derive(toInput(password), salt, toKey ? 32 : key.length, options);
    return format.startsWith(toKey?.(derived) ?? derived, key);
  };
  return format.createThreadHash({ iterations, memoryBytes, verify });
}

const PHC = /^\$scrypt\$ln=(\d+),r=([1-9]\d*),p=([1-9]\d*)\$([\w+/.]+={0,2})\$([\w+/.]+={0,2})$/;
const DJANGO = /^scrypt\$([1-9]\d*)\$([^$]+)\$([1-9]\d*)\$([1-9]\d*)\$([\w+/]+={0,2})$/;
const WERKZEUG = /^scrypt:([1-9]\d*):([1-9]\d*):([1-9]\d*)\$([^$]+)\$((?:[0-9a-f]{2})+)$/;
/** Firebase writes keys and hashes in both alphabets of base64. */
const FIREBASE =
  /^\$fbscrypt\$v=1,n=(\d+),r=([1-9]\d*),p=([1-9]\d*)(?:,ss=([\w+/-]+={0,2}))?,sk=([\w+/-]+={0,2})\$([\w+/-]+={0,2})\$([\w+/-]+={0,2})$/;
const BETTER_AUTH = /^better-auth\$((?:[0-9a-f]{2})+):((?:[0-9a-f]{2})+)$/;

/** Computes N from its logarithm. Some systems write N instead, which exceeds the limit and is rejected. */
const powerOfTwo = (log: string): number =>
  2 ** format.bounded("The logarithm of N of scrypt", log, MAX_LOG_N);

function parsePhc(text: string) {
  const [ln = "", r = "", p = "", salt = "", key = ""] = format.match(text, PHC);
  return createHash({ n: powerOfTwo(ln), r, p }, format.fromBase64(salt), format.fromBase64(key));
}

/** Django does not decode the text of the salt. */
function parseDjango(text: string) {
  const [n = "", salt = "", r = "", p = "", key = ""] = format.match(text, DJANGO);
  return createHash({ n, r, p }, salt, format.fromBase64(key));
}

/** Werkzeug does not decode the text of the salt. */
function parseWerkzeug(text: string) {
  const [n = "", r = "", p = "", salt = "", key = ""] = format.match(text, WERKZEUG);
  return createHash({ n, r, p }, salt, format.fromHex(key));
}

/** The derived key encrypts the project's signer key with AES-256-CTR; the result is the stored key. */
function parseFirebase(text: string) {
  const [n = "", r = "", p = "", separator = "", signer = "", salt = "", key = ""] = format.match(
    text,
    FIREBASE,
  );
  const salts = Buffer.concat([format.fromBase64(salt), format.fromBase64(separator)]);
  const [keyBytes, signerBytes] = [format.fromBase64(key), format.fromBase64(signer)];
  format.bounded("The length of the key in bytes", keyBytes.length, signerBytes.length);
  const toKey = (derived: Buffer) =>
    createCipheriv("aes-256-ctr", derived, Buffer.alloc(16)).update(signerBytes);
  return createHash({ n: powerOfTwo(n), r, p }, salts, keyBytes, { toKey });
}

/** better-auth does not decode the hexadecimal text of the salt (crypto/password.ts). */
function parseBetterAuth(text: string) {
  const [salt = "", key = ""] = format.match(text, BETTER_AUTH);
  const toInput = (password: string) =>
    password.length > MAX_NORMALIZED_LENGTH ? password : password.normalize("NFKC");
  return createHash({ n: 16_384, r: 16, p: 1 }, salt, format.fromHex(key), { toInput });
}

export const SCRYPT_FORMATS: readonly format.Format[] = [
  { name: "scrypt", prefix: /^\$scrypt\$/, parse: parsePhc },
  { name: "django_scrypt", prefix: /^scrypt\$/, parse: parseDjango },
  { name: "werkzeug_scrypt", prefix: /^scrypt:/, parse: parseWerkzeug },
  { name: "firebase_scrypt", prefix: /^\$fbscrypt\$/, parse: parseFirebase },
  { name: "better_auth", prefix: /^better-auth\$/, parse: parseBetterAuth },
];
