/** How strong a secret key must be. */

/** The algorithms that sign and verify with one secret key. */
export type SecretAlgorithm = "HS256" | "HS384" | "HS512";

/** RFC 7518 §3.2: a key of at least the size of the hash output. */
const MIN_BYTES: Record<SecretAlgorithm, number> = { HS256: 32, HS384: 48, HS512: 64 };
const MIN_DISTINCT_CHARACTERS = 8;
const PLACEHOLDERS = ["changeme", "change-me", "your-secret", "replace-me", "example"];

/** Why `key` is weak, as the rest of a sentence that begins with its name, or null. It never contains the key. */
export function weaknessOf(key: string, algorithm: SecretAlgorithm): string | null {
  if (Buffer.byteLength(key) < MIN_BYTES[algorithm]) {
    return `is shorter than the ${MIN_BYTES[algorithm]} bytes that ${algorithm} requires`;
  }
  if (new Set(key).size < MIN_DISTINCT_CHARACTERS) {
    return `has fewer than ${MIN_DISTINCT_CHARACTERS} distinct characters`;
  }
  const lower = key.toLowerCase();
  return PLACEHOLDERS.some((word) => lower.includes(word)) ? "looks like a placeholder" : null;
}
