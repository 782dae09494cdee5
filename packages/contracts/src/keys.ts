/** The wire shape of the public keys that verify tokens (JSON Web Key Set, RFC 7517). */
import Type from "typebox";

export const PublicKey = Type.Object(
  {
    kty: Type.Enum(["EC", "OKP"]),
    crv: Type.Enum(["P-256", "Ed25519"]),
    x: Type.String(),
    y: Type.Optional(Type.String({ description: "Absent from Ed25519 keys." })),
    alg: Type.Enum(["ES256", "EdDSA"], { description: "The only algorithm for which the key is valid." }),
    use: Type.Literal("sig"),
    kid: Type.String({
      description: "The thumbprint of the key (RFC 7638), as in the header of tokens that it verifies.",
    }),
  },
  {
    examples: [
      {
        kty: "OKP",
        crv: "Ed25519",
        x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        alg: "EdDSA",
        use: "sig",
        kid: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
      },
    ],
  },
);

export const PublicKeySet = Type.Object({
  keys: Type.Array(PublicKey, { description: "Empty if tokens are signed with a secret key." }),
});
export type PublicKeySet = Type.Static<typeof PublicKeySet>;

export const KEY_RESPONSES = { PublicKeySet };
