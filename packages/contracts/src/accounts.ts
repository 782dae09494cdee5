/** The wire shapes of accounts: what register, login and update take, and what reading an account gives. */
import Type from "typebox";
import {
  EMAIL_MAX_LENGTH,
  ID_MAX,
  PASSWORD_MAX_LENGTH,
  PASSWORD_MIN_LENGTH,
  USERNAME_MAX_LENGTH,
  USERNAME_MIN_LENGTH,
} from "./limits.ts";
import { EMAIL_PATTERN, Timestamp, text } from "./text.ts";

const Email = Type.String({
  pattern: EMAIL_PATTERN,
  maxLength: EMAIL_MAX_LENGTH,
  description: "Trimmed and lowercased before it is checked.",
  examples: ["ada@example.com"],
});

const Username = text({
  minLength: USERNAME_MIN_LENGTH,
  maxLength: USERNAME_MAX_LENGTH,
  examples: ["ada"],
});

const Password = text({
  minLength: PASSWORD_MIN_LENGTH,
  maxLength: PASSWORD_MAX_LENGTH,
  format: "password",
  description: "Taken as it is: never trimmed or normalised.",
  examples: ["correct horse battery staple"],
});

export const RegisterRequest = Type.Object({ email: Email, username: Username, password: Password });
export type RegisterRequest = Type.Static<typeof RegisterRequest>;

/** The bounds of a password belong to register and update: a login may try any text. */
export const LoginRequest = Type.Object({
  email: Email,
  password: text({ format: "password", examples: ["correct horse battery staple"] }),
});
export type LoginRequest = Type.Static<typeof LoginRequest>;

export const UpdateUserRequest = Type.Object({
  username: Type.Optional(Username),
  password: Type.Optional(Password),
});
export type UpdateUserRequest = Type.Static<typeof UpdateUserRequest>;

export const User = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: ID_MAX, examples: [1] }),
  email: Type.String({ examples: ["ada@example.com"] }),
  username: Type.String({ examples: ["ada"] }),
  is_active: Type.Boolean({ examples: [true] }),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type User = Type.Static<typeof User>;

export const Token = Type.Object({
  access_token: Type.String({ description: "A JWT (RFC 7519) for the Authorization header." }),
  token_type: Type.Literal("bearer"),
});
export type Token = Type.Static<typeof Token>;
