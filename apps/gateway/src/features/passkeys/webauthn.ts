/** Verifies the responses of authenticators. The library is imported when passkeys are on, because that takes memory and time. */
import type { CreatePasskeyRequest, PasskeyLoginRequest } from "@latchkey/contracts";
import type { Passkey } from "@latchkey/database";
import type { Config } from "../../config.ts";
import { isCanonical } from "../../tokens/access-tokens.ts";

export type Webauthn = Awaited<ReturnType<typeof importWebauthn>>;

type Credential = Pick<Passkey, "id" | "publicKey" | "counter">;

/** COSE algorithms (RFC 9053, RFC 8812): EdDSA, ES256 and RS256. */
export const ALGORITHMS = [-8, -7, -257];
const MAX_PUBLIC_KEY_BYTES = 1024;
/** In place of that of an unknown credential, so that its rejection takes as long: the base point of P-256. */
const NO_PUBLIC_KEY =
  "pQECAyYgASFYIGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWIlggT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU";

export async function importWebauthn({ origins, rpId, rpName }: NonNullable<Config["passkeys"]>) {
  const { verifyAuthenticationResponse, verifyRegistrationResponse } = await import("@simplewebauthn/server");
  const { cose, decodeAttestationObject, decodeCredentialPublicKey, isoBase64URL, isoCBOR } = await import(
    "@simplewebauthn/server/helpers"
  );
  const { fromBuffer, toBuffer } = isoBase64URL;
  const expected = { expectedOrigin: [...origins], expectedRPID: rpId, requireUserVerification: true };

  /** Statements are not requested; the library would verify one that is sent, with requests to URLs in its certificates. */
  const withoutStatement = (attestationObject: string): string => {
    const authData = decodeAttestationObject(toBuffer(attestationObject)).get("authData");
    const members: [string, string | Uint8Array | Map<string, never>][] = [
      ["fmt", "none"],
      ["attStmt", new Map<string, never>()],
      ["authData", authData],
    ];
    return fromBuffer(isoCBOR.encode(new Map(members)));
  };

  /** The library ignores the tag and the length of an ECDSA signature (RFC 3279 §2.2.3), and what follows it. */
  const isExact = (signature: Buffer, publicKey: Uint8Array<ArrayBuffer>): boolean => {
    if (!cose.isCOSEPublicKeyEC2(decodeCredentialPublicKey(publicKey))) return true;
    const [tag, length, , r = 0] = signature;
    const end = 6 + r + (signature[5 + r] ?? 0);
    return tag === 0x30 && length === signature.length - 2 && end === signature.length;
  };

  return {
    rpId,
    rpName,
    /** Whether the response comes from a page with one of the origins; false for a malformed response. */
    hasOrigin({ response: { clientDataJSON } }: { response: { clientDataJSON: string } }): boolean {
      try {
        const { origin } = JSON.parse(Buffer.from(clientDataJSON, "base64url").toString());
        return origins.includes(origin);
      } catch {
        return false;
      }
    },
    /** Returns the new credential; null if the response is not valid. */
    async verifyCreation(response: CreatePasskeyRequest["response"], challenge: string) {
      try {
        const { attestationObject, ...data } = response.response;
        const { registrationInfo } = await verifyRegistrationResponse({
          ...expected,
          response: {
            ...response,
            response: { ...data, attestationObject: withoutStatement(attestationObject) },
            clientExtensionResults: {},
          },
          expectedChallenge: challenge,
          supportedAlgorithmIDs: ALGORITHMS,
        });
        if (!registrationInfo || registrationInfo.credential.publicKey.length > MAX_PUBLIC_KEY_BYTES)
          return null;
        const { id, publicKey, counter } = registrationInfo.credential;
        // The library does not compare them, and only that of the response has bounds.
        if (id !== response.id) return null;
        return { id, publicKey: fromBuffer(publicKey), counter } satisfies Credential;
      } catch {
        return null;
      }
    },
    /** Returns the counter; null if the response is not valid. Its growth is a condition of the database. */
    async verifyLogin(
      response: PasskeyLoginRequest["response"],
      challenge: string,
      publicKey = NO_PUBLIC_KEY,
    ): Promise<number | null> {
      const { clientDataJSON, authenticatorData, signature } = response.response;
      if (![clientDataJSON, authenticatorData, signature].every(isCanonical)) return null;
      try {
        const key = toBuffer(publicKey);
        if (!isExact(Buffer.from(signature, "base64url"), key)) return null;
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          ...expected,
          response: { ...response, clientExtensionResults: {} },
          expectedChallenge: challenge,
          credential: { id: response.id, publicKey: key, counter: 0 },
        });
        return verified ? authenticationInfo.newCounter : null;
      } catch {
        return null;
      }
    },
  };
}
