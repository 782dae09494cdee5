/** Argon2 as a PHC string, and as wrapped by Django. */
import {
  bounded,
  type Format,
  fromBase64,
  MAX_MEMORY_BYTES,
  match,
  type ThreadHash,
  UnsupportedHash,
} from "./format.ts";

const KIBIBYTE = 1024;
/** Memory times passes. */
const MAX_WORK_KIBIBYTES = 512 * KIBIBYTE;
/** Each lane is a thread. */
const MAX_LANES = 16;
/** Of the verifier. */
const MAX_BYTES = 64;
/** An estimate of the time in a busy worker. */
const ITERATIONS_PER_KIB = 24;

const ARGON2 =
  /^(?:argon2)?(\$argon2(?:i|id)\$(?:v=(\d+)\$)?m=([1-9]\d*),t=([1-9]\d*),p=([1-9]\d*)\$([\w+/]+)\$([\w+/]+))$/;

function parse(text: string): ThreadHash {
  const [hash = "", version = 16, m = "", t = "", p = "", salt = "", key = ""] = match(text, ARGON2);
  bounded("The version of Argon2", version, 19, 19);
  const lanes = bounded("The parallelism of Argon2", p, MAX_LANES);
  const memory = bounded("The memory of Argon2 in KiB", m, MAX_MEMORY_BYTES / KIBIBYTE, 8 * lanes);
  const work = bounded("Memory × passes of Argon2 in KiB", memory * Number(t), MAX_WORK_KIBIBYTES);
  bounded("The length of the salt in bytes", decode(salt).length, MAX_BYTES, 8);
  bounded("The length of the key in bytes", decode(key).length, MAX_BYTES, 16);
  const verify = (password: string) => Bun.password.verify(password, hash);
  return { runsIn: "thread", iterations: ITERATIONS_PER_KIB * work, memoryBytes: memory * KIBIBYTE, verify };
}

/** The verifier rejects any other encoding of the bytes. */
function decode(text: string): Buffer {
  const bytes = fromBase64(text);
  if (bytes.toBase64({ omitPadding: true }) === text) return bytes;
  throw new UnsupportedHash("The password hash is malformed.");
}

export const ARGON2_FORMATS: readonly Format[] = [
  { name: "argon2", prefix: /^\$argon2/, parse },
  { name: "django_argon2", prefix: /^argon2\$/, parse },
];
