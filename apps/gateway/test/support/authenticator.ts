/** An authenticator in software (WebAuthn Level 3), with which tests can also send what no browser sends. */
import { createHash, generateKeyPairSync, randomBytes, sign, type webcrypto } from "node:crypto";
import { isoCBOR } from "@simplewebauthn/server/helpers";

export const ORIGIN = "http://localhost:3000";
const RP_ID = "localhost";
const [PRESENT, VERIFIED, ATTESTED] = [0x01, 0x04, 0x40];

/** Differences from what a browser and its authenticator do. */
export interface Deviations {
  readonly id?: string;
  /** Members of the client data. */
  readonly clientData?: object;
  readonly rpId?: string;
  readonly flags?: number;
  readonly counter?: number;
  readonly userHandle?: string | undefined;
  readonly format?: string;
  readonly coseAlgorithm?: number;
  /** Added to the public key. */
  readonly paddingBytes?: number;
  readonly attestedId?: Buffer;
  /** The public key of a creation, in place of the authenticator's own. */
  readonly publicKey?: webcrypto.JsonWebKey;
}

/** What an authenticator needs of the options of the service. */
export interface PasskeyOptions {
  readonly challenge: string;
  /** Of a creation. */
  readonly user?: { readonly id: string };
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
const sha256 = (data: string | Uint8Array): Buffer => createHash("sha256").update(data).digest();

type Cbor = Parameters<typeof isoCBOR.encode>[0];

const ALGORITHMS = {
  ES256: { cose: -7, hash: "sha256", generate: () => generateKeyPairSync("ec", { namedCurve: "P-256" }) },
  EdDSA: { cose: -8, hash: null, generate: () => generateKeyPairSync("ed25519") },
  RS256: { cose: -257, hash: "sha256", generate: () => generateKeyPairSync("rsa", { modulusLength: 2048 }) },
} as const;

/** COSE_Key (RFC 9052 §7, RFC 8230 §4). */
function coseKey(
  { crv, x = "", y = "", n = "", e = "" }: webcrypto.JsonWebKey,
  algorithm: number,
): Map<number, Cbor> {
  const bytes = (text: string) => Buffer.from(text, "base64url");
  const key = new Map<number, Cbor>([[3, algorithm]]);
  if (n !== "") return key.set(1, 3).set(-1, bytes(n)).set(-2, bytes(e));
  if (y === "") return key.set(1, 1).set(-1, 6).set(-2, bytes(x));
  return key
    .set(1, 2)
    .set(-1, crv === "P-384" ? 2 : 1)
    .set(-2, bytes(x))
    .set(-3, bytes(y));
}

/** Creates a passkey, whose counter stays 0. */
export function createAuthenticator(name: keyof typeof ALGORITHMS = "ES256") {
  const algorithm = ALGORITHMS[name];
  const { privateKey, publicKey } = algorithm.generate();
  const ownId = base64url(randomBytes(16));
  let ownUserHandle: string | undefined;

  const clientDataOf = (type: string, challenge: string, { clientData }: Deviations) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: ORIGIN, crossOrigin: false, ...clientData }));
  const authenticatorDataOf = (attested: number, deviations: Deviations) => {
    const { rpId = RP_ID, flags = PRESENT | VERIFIED, counter = 0 } = deviations;
    const counterBytes = Buffer.alloc(4);
    counterBytes.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags | attested]), counterBytes]);
  };
  const credentialOf = <Response>(id: string, response: Response) => {
    const type = "public-key" as const;
    return { id, rawId: id, type, response };
  };

  return {
    id: ownId,
    create({ challenge, user }: PasskeyOptions, deviations: Deviations = {}) {
      ownUserHandle = user?.id;
      const { format = "none", paddingBytes = 0 } = deviations;
      const { publicKey: jwk = publicKey.export({ format: "jwk" }) } = deviations;
      const { coseAlgorithm = jwk.kty === "RSA" ? -257 : jwk.kty === "OKP" ? -8 : algorithm.cose } =
        deviations;
      const key = coseKey(jwk, coseAlgorithm);
      if (paddingBytes > 0) key.set(-70_000, new Uint8Array(paddingBytes));
      const { attestedId = Buffer.from(ownId, "base64url") } = deviations;
      const authData = Buffer.concat([
        authenticatorDataOf(ATTESTED, deviations),
        Buffer.alloc(16),
        Buffer.from([attestedId.length >> 8, attestedId.length & 0xff]),
        attestedId,
        isoCBOR.encode(key),
      ]);
      const attestation = new Map<string, Cbor>([["fmt", format]]);
      attestation.set("attStmt", new Map()).set("authData", authData);
      return credentialOf(ownId, {
        clientDataJSON: base64url(clientDataOf("webauthn.create", challenge, deviations)),
        attestationObject: base64url(isoCBOR.encode(attestation)),
      });
    },
    get({ challenge }: PasskeyOptions, deviations: Deviations = {}) {
      const { id = ownId } = deviations;
      const clientData = clientDataOf("webauthn.get", challenge, deviations);
      const authenticatorData = authenticatorDataOf(0, deviations);
      const signed = Buffer.concat([authenticatorData, sha256(clientData)]);
      return credentialOf(id, {
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(authenticatorData),
        signature: base64url(sign(algorithm.hash, signed, privateKey)),
        userHandle: "userHandle" in deviations ? deviations.userHandle : ownUserHandle,
      });
    },
  };
}
