/** Argon2 hashes as PHC strings, with or without the prefix that Django adds. */
import * as format from "./format.ts";

const KIBIBYTE = 1024;
const MAX_MEMORY_KIBIBYTES = 128 * KIBIBYTE;
/** Memory times passes. */
const MAX_WORK_KIBIBYTES = 512 * KIBIBYTE;
const MAX_LANES = 16;
/** Passes times Argon2's lanes: a hash with several lanes starts four threads per lane in each pass. */
const MAX_LANE_PASSES = 256;
/** The verifier's limit for the salt and for the key. */
const MAX_BYTES = 64;
const ITERATIONS_PER_KIB = 24;
const ITERATIONS_PER_LANE_PASS = 2_500;

const ARGON2 =
  /^(?:argon2)?(\$argon2(?:i|id)\$(?:v=([1-9]\d*)\$)?m=([1-9]\d*),t=([1-9]\d*),p=([1-9]\d*)\$([\w+/]+)\$([\w+/]+))$/;

function parse(text: string): format.ThreadHash {
  const [hash = "", version = 16, m = "", t = "", p = "", salt = "", key = ""] = format.match(text, ARGON2);
  format.bounded("The version of Argon2", version, 19, 19);
  const lanes = format.bounded("The parallelism of Argon2", p, MAX_LANES);
  const memory = format.bounded("The memory of Argon2 in KiB", m, MAX_MEMORY_KIBIBYTES, 8 * lanes);
  const work = format.bounded("Memory × passes of Argon2 in KiB", memory * Number(t), MAX_WORK_KIBIBYTES);
  const lanePasses = format.bounded("Passes × parallelism of Argon2", Number(t) * lanes, MAX_LANE_PASSES);
  format.bounded("The length of the salt in bytes", decode(salt).length, MAX_BYTES, 8);
  format.bounded("The length of the key in bytes", decode(key).length, MAX_BYTES, 16);
  const verify = (password: string) => Bun.password.verify(password, hash);
  const iterations = ITERATIONS_PER_KIB * work + (lanes > 1 ? ITERATIONS_PER_LANE_PASS * lanePasses : 0);
  return format.createThreadHash({ iterations, memoryBytes: memory * KIBIBYTE, verify });
}

/** Throws unless the text is canonical base64 without padding, because the verifier rejects all other text. */
function decode(text: string): Buffer {
  const bytes = format.fromBase64(text);
  if (bytes.toBase64({ omitPadding: true }) === text) return bytes;
  throw new format.UnsupportedHash("The password hash is malformed.");
}

export const ARGON2_FORMATS: readonly format.Format[] = [
  { name: "argon2", prefix: /^\$argon2/, parse },
  { name: "django_argon2", prefix: /^argon2\$/, parse },
];
