/** Verifies the responses of authenticators with `@simplewebauthn/server`, and checks what the library ignores. */
import type { CreatePasskeyRequest, PasskeyLoginRequest } from "@latchkey/contracts";
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import {
  cose,
  decodeClientDataJSON,
  decodeCredentialPublicKey,
  isoBase64URL,
  isoCBOR,
} from "@simplewebauthn/server/helpers";
import { isCanonical } from "../../tokens/access-tokens.ts";
import { isUsablePublicKey } from "./public-key.ts";

/** COSE algorithms (RFC 9053, RFC 8812): EdDSA, ES256 and RS256. */
export const ALGORITHMS = [-8, -7, -257];
/** The base point of P-256. It replaces the key of an unknown credential: all rejections must take equally long. */
const NO_PUBLIC_KEY =
  "pQECAyYgASFYIGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWIlggT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU";

const { fromBuffer, toBuffer } = isoBase64URL;
type Cbor = Parameters<typeof isoCBOR.encode>[0];

/** Removes the attestation statement: to verify it, the library would fetch URLs that certificates contain. */
function withoutStatement(attestationObject: string): string {
  const attestation = isoCBOR.decodeFirst<Map<string, Cbor>>(toBuffer(attestationObject));
  return fromBuffer(isoCBOR.encode(attestation.set("fmt", "none").set("attStmt", new Map())));
}

/** Checks what the library ignores in an ECDSA signature (RFC 3279 §2.2.3): the tag, the length and trailing bytes. */
function isExact(signature: Uint8Array, publicKey: Uint8Array<ArrayBuffer>): boolean {
  if (!cose.isCOSEPublicKeyEC2(decodeCredentialPublicKey(publicKey))) return true;
  const [tag, length, , r = 0] = signature;
  const end = 6 + r + (signature[5 + r] ?? 0);
  return tag === 0x30 && length === signature.length - 2 && end === signature.length;
}

/** The service, as browsers and authenticators know it. */
export interface RelyingParty {
  readonly origins: readonly string[];
  readonly rpId: string;
  /** Some authenticators show this name. */
  readonly rpName: string;
}

/** `verifyCreation` and `verifyLogin` return the reason if they reject a response. */
export function createWebauthn({ origins, rpId }: RelyingParty) {
  const expected = { expectedOrigin: [...origins], expectedRPID: rpId, requireUserVerification: true };

  /** Returns the result of `verify`, or the reason for the rejection if `verify` returns null or throws. */
  const reasonUnless = async <Verified>(
    { response: { clientDataJSON } }: { response: { clientDataJSON: string } },
    verify: () => Promise<Verified | null>,
  ) => {
    let reason: "origin" | "response" = "origin";
    try {
      const { origin, crossOrigin = false } = decodeClientDataJSON(clientDataJSON);
      // The library checks `crossOrigin` only at a login. A page of another origin must not embed an enrolment either.
      if (!origins.includes(origin) || crossOrigin !== false) return reason;
      reason = "response";
      return (await verify()) ?? reason;
    } catch {
      return reason;
    }
  };

  return {
    /** Returns the new credential. */
    verifyCreation: (response: CreatePasskeyRequest["response"], expectedChallenge: string) =>
      reasonUnless(response, async () => {
        const attestationObject = withoutStatement(response.response.attestationObject);
        const attestation = { ...response.response, attestationObject };
        const { registrationInfo } = await verifyRegistrationResponse({
          ...expected,
          response: { ...response, response: attestation, clientExtensionResults: {} },
          expectedChallenge,
          supportedAlgorithmIDs: ALGORITHMS,
        });
        if (!registrationInfo) return null;
        const { id, publicKey, counter } = registrationInfo.credential;
        // The library does not compare `id` with `response.id`. Only the length of `response.id` has been validated.
        if (id !== response.id || !isUsablePublicKey(publicKey)) return null;
        return { id, publicKey: fromBuffer(publicKey), counter };
      }),
    /** Returns the counter. The database checks the counter when it stores the login. */
    verifyLogin: (
      response: PasskeyLoginRequest["response"],
      expectedChallenge: string,
      publicKey = NO_PUBLIC_KEY,
    ) =>
      reasonUnless(response, async () => {
        const { clientDataJSON, authenticatorData, signature } = response.response;
        const key = toBuffer(publicKey);
        if (![clientDataJSON, authenticatorData, signature].every(isCanonical)) return null;
        if (!isExact(toBuffer(signature), key)) return null;
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          ...expected,
          response: { ...response, clientExtensionResults: {} },
          expectedChallenge,
          credential: { id: response.id, publicKey: key, counter: 0 },
        });
        return verified ? authenticationInfo.newCounter : null;
      }),
  };
}
