/** How strong a secret key must be. */

/** The algorithms that sign and verify with one secret key. */
export type SecretAlgorithm = "HS256" | "HS384" | "HS512";

/** RFC 7518 §3.2: the key must be at least as long as the hash output. */
const MIN_BYTES: Record<SecretAlgorithm, number> = { HS256: 32, HS384: 48, HS512: 64 };
const MIN_DISTINCT_CHARACTERS = 8;
const PLACEHOLDERS = ["changeme", "change-me", "your-secret", "replace-me", "example"];

/**
 * Returns why `key` is weak, as the rest of a sentence that begins with the variable's name. Returns null if `key` is strong.
 * The text never contains `key`.
 */
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
