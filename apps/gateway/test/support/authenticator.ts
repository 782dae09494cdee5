/** An authenticator in software (WebAuthn Level 3), with which tests can also send what no browser sends. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

export const ORIGIN = "http://localhost:3000";
const [PRESENT, VERIFIED, ATTESTED] = [0x01, 0x04, 0x40];

type Algorithm = "ES256" | "EdDSA" | "RS256";

/** Differences from what a browser and its authenticator do. */
export interface Deviations {
  readonly type?: string;
  readonly challenge?: string;
  readonly origin?: string;
  readonly rpId?: string;
  readonly flags?: number;
  readonly counter?: number;
  readonly userHandle?: string | undefined;
  readonly format?: string;
  readonly coseAlgorithm?: number;
  /** Added to the public key. */
  readonly paddingBytes?: number;
  readonly attestedId?: Buffer;
}

/** As in the responses of the service. */
export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}
export interface LoginOptions {
  readonly challenge: string;
  readonly rpId: string;
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
const sha256 = (data: string | Uint8Array): Buffer => createHash("sha256").update(data).digest();

type Cbor = number | string | Uint8Array | ReadonlyMap<number | string, Cbor>;

/** CBOR (RFC 8949) as far as authenticators use it. */
function encodeCbor(value: Cbor): Buffer {
  const head = (major: number, length: number): Buffer => {
    if (length < 24) return Buffer.from([(major << 5) | length]);
    if (length < 256) return Buffer.from([(major << 5) | 24, length]);
    return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff]);
  };
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string")
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  const members = [...value].flatMap(([key, member]) => [encodeCbor(key), encodeCbor(member)]);
  return Buffer.concat([head(5, value.size), ...members]);
}

/** COSE_Key (RFC 9052 §7, RFC 8230 §4). */
function coseKey(publicKey: KeyObject, coseAlgorithm: number): Map<number, Cbor> {
  const { x = "", y = "", n = "", e = "" } = publicKey.export({ format: "jwk" });
  const bytes = (text: string) => Buffer.from(text, "base64url");
  const [type, ...parameters] = {
    ec: [2, [-1, 1], [-2, bytes(x)], [-3, bytes(y)]],
    ed25519: [1, [-1, 6], [-2, bytes(x)]],
    rsa: [3, [-1, bytes(n)], [-2, bytes(e)]],
  }[String(publicKey.asymmetricKeyType)] as [number, ...[number, Cbor][]];
  return new Map<number, Cbor>([[1, type], [3, coseAlgorithm], ...parameters]);
}

const KEYS = {
  ES256: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  EdDSA: () => generateKeyPairSync("ed25519"),
  RS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
};
const COSE_ALGORITHMS = { ES256: -7, EdDSA: -8, RS256: -257 };

/** Creates a passkey, whose counter stays 0. */
export function createAuthenticator(algorithm: Algorithm = "ES256") {
  const { privateKey, publicKey } = KEYS[algorithm]();
  const id = base64url(randomBytes(16));
  let userHandle: string | undefined;

  const clientDataOf = (type: string, challenge: string, deviations: Deviations) =>
    Buffer.from(
      JSON.stringify({ type, challenge, origin: ORIGIN, crossOrigin: false, ...pickClientData(deviations) }),
    );
  const authenticatorDataOf = (rpId: string, flags: number, { counter = 0 }: Deviations) => {
    const counterBytes = Buffer.alloc(4);
    counterBytes.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), counterBytes]);
  };

  return {
    id,
    create({ challenge, rp, user }: CreationOptions, deviations: Deviations = {}) {
      userHandle = user.id;
      const { rpId = rp.id, flags = PRESENT | VERIFIED, format = "none", paddingBytes = 0 } = deviations;
      const key = coseKey(publicKey, deviations.coseAlgorithm ?? COSE_ALGORITHMS[algorithm]);
      if (paddingBytes > 0) key.set(-70_000, new Uint8Array(paddingBytes));
      const credentialId = deviations.attestedId ?? Buffer.from(id, "base64url");
      const authData = Buffer.concat([
        authenticatorDataOf(rpId, flags | ATTESTED, deviations),
        Buffer.alloc(16),
        Buffer.from([credentialId.length >> 8, credentialId.length & 0xff]),
        credentialId,
        encodeCbor(key),
      ]);
      const attestation = new Map<string, Cbor>([
        ["fmt", format],
        ["attStmt", new Map()],
        ["authData", authData],
      ]);
      return {
        id,
        rawId: id,
        type: "public-key",
        response: {
          clientDataJSON: base64url(clientDataOf("webauthn.create", challenge, deviations)),
          attestationObject: base64url(encodeCbor(attestation)),
        },
      };
    },
    get({ challenge, rpId: expectedRpId }: LoginOptions, deviations: Deviations = {}) {
      const { rpId = expectedRpId, flags = PRESENT | VERIFIED } = deviations;
      const clientData = clientDataOf("webauthn.get", challenge, deviations);
      const authenticatorData = authenticatorDataOf(rpId, flags, deviations);
      const signed = Buffer.concat([authenticatorData, sha256(clientData)]);
      return {
        id,
        rawId: id,
        type: "public-key",
        response: {
          clientDataJSON: base64url(clientData),
          authenticatorData: base64url(authenticatorData),
          signature: base64url(sign(algorithm === "EdDSA" ? null : "sha256", signed, privateKey)),
          userHandle: "userHandle" in deviations ? deviations.userHandle : userHandle,
        },
      };
    },
  };
}

const pickClientData = ({ type, challenge, origin }: Deviations) => ({
  ...(type !== undefined && { type }),
  ...(challenge !== undefined && { challenge }),
  ...(origin !== undefined && { origin }),
});
