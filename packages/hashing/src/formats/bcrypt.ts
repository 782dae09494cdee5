/** bcrypt hashes in the modular crypt format, with or without the prefix of Django or of better-auth's export. */
import { createHash } from "node:crypto";
import * as format from "./format.ts";

/** bcrypt ignores all further bytes, but `Bun.password` hashes a longer password before it runs bcrypt. */
const MAX_PASSWORD_BYTES = 72;
const MAX_COST = 13;
const ITERATIONS_PER_ROUND = 2_000;

const BCRYPT =
  /^(?:(?:bcrypt(?:_sha256)?|better-auth)\$)?\$2([abxy])\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/;
const ALPHABET = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

const parser =
  (toInput: (password: string) => string) =>
  (text: string): format.ThreadHash => {
    const [variant = "", cost = "", salt = "", digest = ""] = format.match(text, BCRYPT);
    if (variant === "x") throw new format.UnsupportedHash("$2x$ marks hashes of a defective implementation.");
    const iterations = ITERATIONS_PER_ROUND * 2 ** format.bounded("The cost of bcrypt", cost, MAX_COST, 4);
    const canonical = `$2b$${cost}$${clearUnusedBits(salt, 4)}${clearUnusedBits(digest, 2)}`;
    const verify = (password: string) =>
      Bun.password.verify(Buffer.from(toInput(password)).subarray(0, MAX_PASSWORD_BYTES), canonical);
    return format.createThreadHash({ iterations, memoryBytes: 4096, verify });
  };

/** Some implementations set the unused bits; Bun rejects such hashes. */
function clearUnusedBits(base64: string, bits: number): string {
  const value = ALPHABET.indexOf(base64.slice(-1));
  return base64.slice(0, -1) + ALPHABET.charAt((value >> bits) << bits);
}

const toSha256 = (password: string): string => createHash("sha256").update(password).digest("hex");

export const BCRYPT_FORMATS: readonly format.Format[] = [
  { name: "bcrypt", prefix: /^\$2/, parse: parser(String) },
  { name: "django_bcrypt", prefix: /^bcrypt\$/, parse: parser(String) },
  { name: "django_bcrypt_sha256", prefix: /^bcrypt_sha256\$/, parse: parser(toSha256) },
  // An application of better-auth can choose bcrypt; the export prefixes every hash.
  { name: "better_auth_bcrypt", prefix: /^better-auth\$\$2/, parse: parser(String) },
];
