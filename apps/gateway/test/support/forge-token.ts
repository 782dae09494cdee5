/** Creates invalid tokens, signed or not, without code of the service. */
import { createHmac, createPrivateKey, sign as signBytes } from "node:crypto";
import { SECRET_KEY } from "@latchkey/testing/keys";

const DIGESTS = { HS256: "sha256", HS384: "sha384", HS512: "sha512" } as const;

export interface Forgery {
  /** Added to `{ alg: algorithm, typ: "JWT" }`; a text replaces the whole header. */
  readonly header?: object | string;
  /** A text is used as the claims without serialization. */
  readonly claims: object | string;
  readonly key?: string;
  /** The signing algorithm. @default "HS256" */
  readonly algorithm?: keyof typeof DIGESTS;
}

export const encode = (part: object | string): string =>
  Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");

export function forge({ header = {}, claims, key = SECRET_KEY, algorithm = "HS256" }: Forgery): string {
  const fullHeader = typeof header === "string" ? header : { alg: algorithm, typ: "JWT", ...header };
  return sign(`${encode(fullHeader)}.${encode(claims)}`, key, algorithm);
}

/** Appends the signature of `content`, which is an encoded header and encoded claims in any spelling. */
export function sign(content: string, key = SECRET_KEY, algorithm: keyof typeof DIGESTS = "HS256"): string {
  return `${content}.${createHmac(DIGESTS[algorithm], key).update(content).digest("base64url")}`;
}

/** Parses the header and claims of a token. */
export function openToken(token: string): Readonly<Record<"header" | "claims", Record<string, unknown>>> {
  const [header = "", claims = ""] = token.split(".");
  const open = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
  return { header: open(header), claims: open(claims) };
}

/** The time after this many seconds, in seconds since the epoch. */
export const secondsFromNow = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

type AsymmetricForgery = Pick<Forgery, "header" | "claims"> & { readonly pem: string };

/** Signs with a private key: ES256 or EdDSA, as the key demands. The header has no `alg` of its own. */
export function forgeWithPrivateKey({ header = {}, claims, pem }: AsymmetricForgery): string {
  const key = createPrivateKey(pem);
  const content = `${encode(header)}.${encode(claims)}`;
  const digest = key.asymmetricKeyType === "ec" ? "sha256" : null;
  const signature = signBytes(digest, Buffer.from(content), { key, dsaEncoding: "ieee-p1363" });
  return `${content}.${signature.toString("base64url")}`;
}
