/** The wire shapes of second factors: codes of an application (TOTP, RFC 6238), and recovery codes. */
import Type from "typebox";
import { RecentPassword } from "./credentials.ts";
import { Timestamp, text } from "./text.ts";
import { Token } from "./users.ts";

export const FACTOR_STATE_EXAMPLE = "WyJmYWN0b3IiXQ.c2lnbmF0dXJl";
/** Longer than what people type with spaces and hyphens. */
const CODE_MAX_LENGTH = 64;

export const FactorState = Type.String({
  description:
    "For `POST /auth/login/factor`, within five minutes. It is no token. Only with `SECOND_FACTOR_REQUIRED`.",
  examples: [FACTOR_STATE_EXAMPLE],
});
const state = text({ description: "From the options.", examples: [FACTOR_STATE_EXAMPLE] });
const appCode = (description: string) =>
  text({ maxLength: CODE_MAX_LENGTH, description, examples: ["123456"] });
const codeOrRecovery = appCode("The six digits of the application, or a recovery code.");
const recoveryCodes = Type.Array(Type.String({ examples: ["mfrggzdfmztwq2lknnwg23tp"] }), {
  description:
    "Eight codes, each of which replaces a code of the application once. They are never shown again.",
  examples: [["mfrggzdfmztwq2lknnwg23tp"]],
});
const currentPassword = Type.Optional(RecentPassword);

export const FactorOptionsRequest = Type.Object({
  current_password: currentPassword,
  code: Type.Optional(
    appCode("Required if the user has a second factor, which the new one replaces: one of its codes."),
  ),
});
export type FactorOptionsRequest = Type.Static<typeof FactorOptionsRequest>;

export const FactorOptionsResponse = Type.Object({
  secret: Type.String({
    description: "For users who cannot scan the QR code, in base32 (RFC 4648).",
    examples: ["JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"],
  }),
  uri: Type.String({
    description: "The content of the QR code.",
    examples: ["otpauth://totp/Latchkey:ada%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Latchkey"],
  }),
  state,
});

export const CreateFactorRequest = Type.Object({
  state,
  code: appCode("The six digits of the application."),
  email_code: Type.Optional(
    text({
      maxLength: CODE_MAX_LENGTH,
      description: "The eight digits from the mail. Required if the service sends mail.",
      examples: ["12345678"],
    }),
  ),
});
export type CreateFactorRequest = Type.Static<typeof CreateFactorRequest>;

export const CreateFactorResponse = Type.Object({ recovery_codes: recoveryCodes, ...Token.properties });
export type CreateFactorResponse = Type.Static<typeof CreateFactorResponse>;

export const FactorLoginRequest = Type.Object({
  state: text({ description: "From the error of the first step.", examples: [FACTOR_STATE_EXAMPLE] }),
  code: codeOrRecovery,
});
export type FactorLoginRequest = Type.Static<typeof FactorLoginRequest>;

/** Of the removal, and of new recovery codes. */
export const FactorProofRequest = Type.Object({ current_password: currentPassword, code: codeOrRecovery });
export type FactorProofRequest = Type.Static<typeof FactorProofRequest>;

export const RecoveryCodesResponse = Type.Object({ recovery_codes: recoveryCodes });

export const FactorResponse = Type.Object({
  created_at: Timestamp,
  last_used_at: Type.Union([Timestamp, Type.Null()], {
    description: "When a code was last accepted after the enrolment.",
    examples: [null],
  }),
  recovery_codes_left: Type.Integer({ minimum: 0, maximum: 8, examples: [8] }),
});
export type FactorResponse = Type.Static<typeof FactorResponse>;

/** The keys are the names in the OpenAPI document. */
export const FACTOR_SCHEMAS = {
  FactorOptionsRequest,
  CreateFactorRequest,
  FactorLoginRequest,
  FactorProofRequest,
  FactorOptionsResponse,
  CreateFactorResponse,
  RecoveryCodesResponse,
  FactorResponse,
};
