/**
 * PBKDF2 hashes of passlib and Keycloak (PHC strings), Django, Werkzeug and ASP.NET Identity. If a key is longer than the
 * digest, only its first block is derived and compared: the blocks are independent of each other. Further blocks would
 * multiply the cost of a login without adding security (Keycloak stores 64 bytes of HMAC-SHA256).
 */
import { pbkdf2 } from "node:crypto";
import { promisify } from "node:util";
import * as format from "./format.ts";

const MAX_ITERATIONS = 2_000_000;
/** Per digest: its length in bytes, then the cost of one iteration in Bun's thread pool, in iterations in busy lanes. */
const DIGESTS = new Map(Object.entries({ sha1: [20, 4], sha256: [32, 1], sha512: [64, 15] }));

const derive = promisify(pbkdf2);

function createHash(digest: string, given: string | number, salt: string | Uint8Array, givenKey: Buffer) {
  const [bytes, cost] = DIGESTS.get(digest) ?? [];
  if (!bytes || !cost)
    throw new format.UnsupportedHash("The digest of PBKDF2 must be SHA-1, SHA-256 or SHA-512.");
  const iterations = format.bounded("The number of iterations", given, MAX_ITERATIONS);
  const key = format.checkedKey(givenKey).subarray(0, bytes);
  if (digest === "sha256") return { runsIn: "lane", salt, iterations, key } as const;
  const verify = async (password: string) =>
    format.startsWith(await derive(password, salt, iterations, key.length, digest), key);
  return format.createThreadHash({ iterations: cost * iterations, memoryBytes: 0, verify });
}

const PHC = /^\$pbkdf2(?:-(\w+))?\$(?:i=)?([1-9]\d*)(?:,l=\d+)?\$([\w+/.]+={0,2})\$([\w+/.]+={0,2})$/;
const DJANGO = /^pbkdf2_(\w+)\$([1-9]\d*)\$([^$]+)\$([\w+/]+={0,2})$/;
const WERKZEUG = /^pbkdf2:(\w+):([1-9]\d*)\$([^$]+)\$((?:[0-9a-f]{2})+)$/;
const ASPNET = /^aspnet\$([A-Za-z0-9+/]+={0,2})$/;
/** Indexed by the values of .NET's `KeyDerivationPrf`. */
const ASPNET_DIGESTS = ["sha1", "sha256", "sha512"];

const parser =
  (pattern: RegExp, toSalt: (text: string) => string | Buffer, toKey: (text: string) => Buffer) =>
  (text: string) => {
    const [digest = "sha1", iterations = "", salt = "", key = ""] = format.match(text, pattern);
    return createHash(digest, iterations, toSalt(salt), toKey(key));
  };

/**
 * Parses version 2 or 3 of PasswordHasher.cs (ASP.NET Core) in base64. Version 2, with SHA-1 and 1,000 iterations: a byte 0,
 * 16 bytes of salt, 32 bytes of key. Version 3: a byte 1; digest, iterations and salt length as 32-bit numbers; salt; key.
 */
function parseAspnet(text: string) {
  const [base64 = ""] = format.match(text, ASPNET);
  const bytes = format.fromBase64(base64);
  if (bytes[0] === 0 && bytes.length === 49)
    return createHash("sha1", 1000, bytes.subarray(1, 17), bytes.subarray(17));
  if (bytes[0] !== 1 || bytes.length < 13)
    throw new format.UnsupportedHash("The password hash is malformed.");
  const saltEnd = 13 + bytes.readUInt32BE(9);
  const digest = ASPNET_DIGESTS[bytes.readUInt32BE(1)] ?? "";
  return createHash(digest, bytes.readUInt32BE(5), bytes.subarray(13, saltEnd), bytes.subarray(saltEnd));
}

/** Django and Werkzeug do not decode the text of the salt. */
export const PBKDF2_FORMATS: readonly format.Format[] = [
  { name: "pbkdf2", prefix: /^\$pbkdf2[$-]/, parse: parser(PHC, format.fromBase64, format.fromBase64) },
  { name: "django_pbkdf2", prefix: /^pbkdf2_/, parse: parser(DJANGO, String, format.fromBase64) },
  { name: "werkzeug_pbkdf2", prefix: /^pbkdf2:/, parse: parser(WERKZEUG, String, format.fromHex) },
  { name: "aspnet", prefix: /^aspnet\$/, parse: parseAspnet },
];
