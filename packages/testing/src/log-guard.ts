/** Detects secrets in log lines. Every test of the service checks all lines that were logged. */
import { FACTOR_KEY, SECRET_KEY } from "./keys.ts";

const SECRETS: Readonly<Record<string, RegExp>> = {
  "a password": /correct[ -]horse|battery staple|hunter2/i,
  "a stored hash": /[0-9a-f]{32}\$[0-9a-f]{64}/i,
  "a digest": /\b[0-9a-f]{64}\b/i,
  "a token": /\beyJ[\w-]{10,}\.[\w-]+\.[\w-]+/,
  "a token of a link": /\bWyJ[\w-]{10,}\.[\w-]{43}/,
  "the signing key": new RegExp(SECRET_KEY),
  "the key of second factors": new RegExp(FACTOR_KEY),
  "the secret of a second factor": /\b[A-Z2-7]{32}\b/,
  "a recovery code": /\b(?=[a-z]*[2-7])(?=[2-7]*[a-z])[a-z2-7]{24}\b/,
  // The beginnings of PKCS#8 for Ed25519 and P-256.
  "a private key": /PRIVATE KEY-----|MC4CAQAwBQYDK2Vw|MIGHAgEAMBMGByqGSM49/,
  "a URL's password": /\b(postgres(ql)?|rediss?|smtps?):\/\/[^\s"@/]*:[^\s"@/]+@/,
};

/** Returns the kinds of secrets in `text`. */
export const secretsIn = (text: string): readonly string[] =>
  Object.entries(SECRETS).flatMap(([kind, pattern]) => (pattern.test(text) ? [kind] : []));

/** @throws {Error} if a line contains a secret */
export function assertNoSecrets(lines: readonly unknown[]): void {
  for (const line of lines) {
    const text = JSON.stringify(line);
    const [kind] = secretsIn(text);
    if (kind !== undefined) throw new Error(`The log contains ${kind}: ${text}`);
  }
}
