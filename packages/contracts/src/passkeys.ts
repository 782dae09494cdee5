/** The wire shapes of passkeys. `options` and `response` have the JSON formats of WebAuthn Level 3 (§5.1.7 to §5.1.10). */
import Type from "typebox";
import { RecentPassword } from "./credentials.ts";
import { BASE64URL_PATTERN, Timestamp, text } from "./text.ts";

const TEXT = "cGFzc2tleQ";

const base64url = (maxLength: number) =>
  Type.String({ pattern: BASE64URL_PATTERN, minLength: 1, maxLength, examples: [TEXT] });

/** A credential id has at most 1,023 bytes: 1,364 characters in base64url. */
const id = base64url(1364);
const name = text({ minLength: 1, maxLength: 64, examples: ["Phone"] });
const STATE = "WyJwYXNza2V5Il0.c2lnbmF0dXJl";
const state = text({ description: "From the options.", examples: [STATE] });
const clientDataJSON = base64url(2048);
export const PasskeyOptionsResponse = Type.Object(
  { options: Type.Unknown({ description: "For the browser, unchanged.", examples: [{}] }), state },
  { examples: [{ options: { challenge: TEXT }, state: STATE }] },
);

export const PasskeyOptionsRequest = Type.Object({ current_password: Type.Optional(RecentPassword) });

/** A credential from the browser. `members` are the members of its `response`. */
const credential = <Members extends Type.TProperties>(members: Members) => {
  const required = Object.entries(members).filter(([, member]) => !Type.IsOptional(member));
  const response = Object.fromEntries(required.map(([member]) => [member, TEXT]));
  return Type.Object(
    { id, rawId: id, type: Type.Literal("public-key"), response: Type.Object(members) },
    { description: "From the browser.", examples: [{ id: TEXT, rawId: TEXT, type: "public-key", response }] },
  );
};

export const CreatePasskeyRequest = Type.Object({
  state,
  response: credential({ clientDataJSON, attestationObject: base64url(4096) }),
  name,
});
export type CreatePasskeyRequest = Type.Static<typeof CreatePasskeyRequest>;

export const PasskeyLoginRequest = Type.Object({
  state,
  response: credential({
    clientDataJSON,
    authenticatorData: base64url(2048),
    signature: base64url(1024),
    userHandle: Type.Optional(base64url(88)),
  }),
});
export type PasskeyLoginRequest = Type.Static<typeof PasskeyLoginRequest>;

export const PasskeyPath = Type.Object({ id: text({ description: "The credential id.", examples: [TEXT] }) });

export const Passkey = Type.Object({
  id: Type.String({ description: "The credential id, base64url.", examples: [TEXT] }),
  name,
  created_at: Timestamp,
  last_used_at: Type.Union([Timestamp, Type.Null()], { description: "Of a login.", examples: [null] }),
});
export type Passkey = Type.Static<typeof Passkey>;

/** Copies only the listed members, so that a new column is never exposed by accident. */
export const toPasskey = (
  stored: Pick<Passkey, "id" | "name"> & { readonly createdAt: string; readonly lastUsedAt: string | null },
): Passkey => ({
  id: stored.id,
  name: stored.name,
  created_at: stored.createdAt,
  last_used_at: stored.lastUsedAt,
});

export const PasskeyListResponse = Type.Array(Passkey, { examples: [[]] });

/** The keys are the names in the OpenAPI document. */
export const PASSKEY_SCHEMAS = {
  PasskeyOptionsRequest,
  CreatePasskeyRequest,
  PasskeyLoginRequest,
  PasskeyOptionsResponse,
  PasskeyResponse: Passkey,
  PasskeyListResponse,
};
