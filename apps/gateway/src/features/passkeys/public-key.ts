/**
 * Checks the public key of a new passkey, which the library stores unread: a key that no signature matches, or that anybody can
 * sign for, must not become a login.
 */
import { createPublicKey, type webcrypto } from "node:crypto";
import { cose, decodeCredentialPublicKey, isoBase64URL } from "@simplewebauthn/server/helpers";

const MAX_BYTES = 1024;
const MIN_RSA_BITS = 2048;
/** The largest exponent that RSA libraries accept. A larger one makes each verification slow. */
const MAX_RSA_EXPONENT = 2n ** 33n;

/** Parameters of edwards25519 (RFC 8032 §5.1): the prime of the field, and the constant of the curve. */
const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/** Whether the COSE key has at most 1 KiB, and is RSA of at least 2048 bits, or a point of P-256 or edwards25519. */
export function isUsablePublicKey(publicKey: Uint8Array<ArrayBuffer>): boolean {
  if (publicKey.length > MAX_BYTES) return false;
  const key = decodeCredentialPublicKey(publicKey);
  const { x, y, n, e, crv } = cose.COSEKEYS;
  if (cose.isCOSEPublicKeyRSA(key))
    return isUsableRsa({ kty: "RSA", n: toText(key.get(n)), e: toText(key.get(e)) });
  if (cose.isCOSEPublicKeyEC2(key) && key.get(crv) === cose.COSECRV.P256)
    return importKey({ kty: "EC", crv: "P-256", x: toText(key.get(x)), y: toText(key.get(y)) }) !== null;
  return (
    cose.isCOSEPublicKeyOKP(key) &&
    key.get(crv) === cose.COSECRV.ED25519 &&
    isOnEdwards25519(Buffer.from(toText(key.get(x)), "base64url"))
  );
}

const toText = (value: unknown): string =>
  value instanceof Uint8Array ? isoBase64URL.fromBuffer(Uint8Array.from(value)) : "";

/** Returns null if the key is malformed, or a point that is not on P-256. */
function importKey(key: webcrypto.JsonWebKey) {
  try {
    return createPublicKey({ key, format: "jwk" });
  } catch {
    return null;
  }
}

function isUsableRsa(jwk: webcrypto.JsonWebKey): boolean {
  const { modulusLength = 0, publicExponent = 0n } = importKey(jwk)?.asymmetricKeyDetails ?? {};
  const isOdd = publicExponent % 2n === 1n;
  return modulusLength >= MIN_RSA_BITS && isOdd && publicExponent > 1n && publicExponent < MAX_RSA_EXPONENT;
}

/**
 * Whether x² = (y² - 1) / (d y² + 1) has a solution other than 0 (RFC 8032 §5.1.3), and the order of the point is not 1, 2, 4
 * or 8: then everybody can sign. `node:crypto` checks neither.
 */
function isOnEdwards25519(encoded: Uint8Array): boolean {
  if (encoded.length !== 32) return false;
  const y = BigInt(`0x${Buffer.from(encoded.toReversed()).toString("hex")}`) & (2n ** 255n - 1n);
  if (y >= P) return false;
  const square = (y * y) % P;
  // y of the points of order 4 and 8. The points of order 1 and 2 have x = 0.
  if (square === 0n || (D * square * square + 2n * square - 1n) % P === 0n) return false;
  return power((square - 1n) * (D * square + 1n), (P - 1n) / 2n) === 1n;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let factor = ((base % P) + P) % P;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest % 2n === 1n) result = (result * factor) % P;
    factor = (factor * factor) % P;
  }
  return result;
}
