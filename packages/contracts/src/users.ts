/** The wire shapes of users: the bodies of requests, and the responses. */
import Type from "typebox";
import { ID_MAX } from "./bounds.ts";
import { Claims } from "./claims.ts";
import { currentPassword, Email, NewEmail, Password, RecentPassword, Username } from "./credentials.ts";
import { hasLocales, type Language, type Languages } from "./languages.ts";
import { ROLE_PATTERN, Timestamp, text } from "./text.ts";

/** Of a passkey or an identity. */
export const RemovalRequest = Type.Object({ current_password: Type.Optional(RecentPassword) });
export type RemovalRequest = Type.Static<typeof RemovalRequest>;

// A body that depends on the configuration is a copy. `$id` keeps its name in the OpenAPI document.
export const RegisterRequest = Type.Object(
  { email: NewEmail, username: Username, password: Password },
  { $id: "RegisterRequest" },
);

/** The member of a request. */
const newLocale = (languages: Languages) =>
  Type.Optional(
    Type.Unsafe<Language | null>({
      enum: [...languages, null],
      description:
        "The language of the user's mails and pages. null only while none was set: mails then have the default language.",
      examples: [languages.at(-1)],
    }),
  );
export const withNewLocale = <Properties extends Type.TProperties>(
  properties: Properties,
  languages: Languages,
) => (hasLocales(languages) ? { ...properties, locale: newLocale(languages) } : properties);

/** Returns `RegisterRequest` with the members that the configuration adds. */
export const registerRequest = ({ languages }: { readonly languages: Languages }) =>
  Type.Object(withNewLocale(RegisterRequest.properties, languages), { $id: "RegisterRequest" });
export interface RegisterRequest extends Type.Static<typeof RegisterRequest> {
  readonly locale?: Language | null;
}

export const LoginRequest = Type.Object({ email: Email, password: currentPassword() });
export type LoginRequest = Type.Static<typeof LoginRequest>;

export const UpdateUserRequest = Type.Object(
  {
    username: Type.Optional(Username),
    password: Type.Optional(Password),
    current_password: Type.Optional(currentPassword({ description: "Verified if it is present." })),
  },
  { examples: [{ username: "countess" }] },
);
const UpdateWithPasskeysRequest = Type.Object({
  ...UpdateUserRequest.properties,
  remove_passkeys: Type.Optional(
    Type.Boolean({
      description: "true: the new password also ends the passkeys of the user. Requires `password`.",
      examples: [true],
    }),
  ),
});
export interface UpdateUserRequest extends Type.Static<typeof UpdateWithPasskeysRequest> {
  readonly locale?: Language | null;
}

interface UpdateRules {
  readonly requireCurrentPassword: boolean;
  /** Whether the request can have `remove_passkeys`. */
  readonly hasPasskeys: boolean;
  readonly languages: Languages;
}

/** Returns `UpdateUserRequest` with these rules. */
export const updateUserRequest = ({ requireCurrentPassword, hasPasskeys, languages }: UpdateRules) => {
  const { properties } = hasPasskeys ? UpdateWithPasskeysRequest : UpdateUserRequest;
  return Type.Object(withNewLocale(properties, languages), {
    $id: "UpdateUserRequest",
    examples: [{ username: "countess" }],
    dependentRequired: {
      ...(requireCurrentPassword && { password: ["current_password"] }),
      ...(hasPasskeys && { remove_passkeys: ["password"] }),
    },
  });
};

export const EmailChangeRequest = Type.Object({
  email: NewEmail,
  current_password: Type.Optional(RecentPassword),
});
export type EmailChangeRequest = Type.Static<typeof EmailChangeRequest>;

export const PasswordResetRequest = Type.Object({ email: Email });

const OneTimeToken = text({
  description: "From the link in the mail.",
  examples: ["WyJyZXNldCIsMSwxNzY5ODU4NDMwMDAwLCIiXQ.c2lnbmF0dXJl"],
});

export const PasswordResetConfirmation = Type.Object(
  { token: OneTimeToken, password: Password },
  { $id: "PasswordResetConfirmation" },
);

export const EmailVerificationConfirmation = Type.Object({ token: OneTimeToken });

export const EmailChangeApproval = Type.Object({ token: OneTimeToken });

export const EmailChangeConfirmation = Type.Object({ token: OneTimeToken });

export const User = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: ID_MAX, examples: [1] }),
  email: Type.String({ examples: ["ada@example.com"] }),
  email_verified: Type.Boolean({
    description: "Whether the user has opened a link in a mail to this address.",
    examples: [false],
  }),
  username: Type.String({ examples: ["ada"] }),
  is_active: Type.Boolean({ examples: [true] }),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type User = Type.Static<typeof User>;

interface StoredUser
  extends Pick<User, "id" | "email" | "username">,
    Readonly<Record<"isActive" | "emailVerified", boolean> & Record<"createdAt" | "updatedAt", string>> {}

/** Names that the operator assigns to users. The service itself does not interpret these names. */
export const Roles = Type.Array(Type.String({ pattern: ROLE_PATTERN }), {
  maxItems: 20,
  description: "What other services permit the user, for example; the service itself ignores them.",
  examples: [["admin"]],
});
/** Which members the read shape has in addition: those that access tokens contain, too, and with several languages the user's. */
export type UserDetails = Readonly<
  Record<"hasRoles" | "hasClaims", boolean> & Record<"languages", Languages>
>;

/** A language that was removed from the configuration stays until the user chooses another one. */
export const Locale = Type.Union([Type.String(), Type.Null()], {
  description: "The language of the user's mails and pages. null until it is set for the first time.",
  examples: ["en"],
});

/** The read shape. `roles`, `claims` and `locale` are optional, because clients know no configuration. */
export const userResponse = ({ hasRoles, hasClaims, languages }: UserDetails) =>
  Type.Unsafe<
    User & { readonly roles?: string[]; readonly claims?: Claims; readonly locale?: string | null }
  >(
    Type.Object(
      {
        ...User.properties,
        ...(hasRoles && { roles: Type.Optional(Roles) }),
        ...(hasClaims && { claims: Type.Optional(Claims) }),
        ...(hasLocales(languages) && { locale: Type.Optional(Locale) }),
      },
      { $id: "UserResponse" },
    ),
  );

/** Copies only the listed members, so that a new column is never exposed by accident. */
export const toUser = (stored: StoredUser): User => ({
  id: stored.id,
  email: stored.email,
  email_verified: stored.emailVerified,
  username: stored.username,
  is_active: stored.isActive,
  created_at: stored.createdAt,
  updated_at: stored.updatedAt,
});

interface DetailedUser extends StoredUser {
  readonly roles: string[];
  readonly claims: Claims;
  readonly locale: string | null;
}

/** Returns the function that makes the read shape of {@link userResponse}. */
export function userMapper({ hasRoles, hasClaims, languages }: UserDetails) {
  // Without details, copying the members would cost 2 % of the requests/s of `/auth/me`.
  if (!hasRoles && !hasClaims && !hasLocales(languages)) return toUser;
  return (stored: DetailedUser) => ({
    ...toUser(stored),
    ...(hasRoles && { roles: stored.roles }),
    ...(hasClaims && { claims: stored.claims }),
    ...(hasLocales(languages) && { locale: stored.locale }),
  });
}

/** The read shape with all that operators know of every user. */
export const toDetailedUser = (stored: DetailedUser) => ({
  ...toUser(stored),
  roles: stored.roles,
  claims: stored.claims,
  ...(stored.locale !== null && { locale: stored.locale }),
});

export const Token = Type.Object({
  access_token: Type.String({
    description: "A JWT (RFC 7519) for the Authorization header.",
    examples: ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIiwiZXhwIjoxNzY5ODU4NDMwfQ.c2lnbmF0dXJl"],
  }),
  token_type: Type.Literal("bearer"),
});
export type Token = Type.Static<typeof Token>;

export const toToken = (access_token: string): Token => ({ access_token, token_type: "bearer" });

/** The keys are the names in the OpenAPI document. */
export const USER_REQUESTS = {
  RegisterRequest,
  LoginRequest,
  UpdateUserRequest,
  PasswordResetRequest,
  PasswordResetConfirmation,
  EmailVerificationConfirmation,
};
/** The requests of features that are off by default. */
export const OPTIONAL_USER_REQUESTS = {
  EmailChangeRequest,
  EmailChangeApproval,
  EmailChangeConfirmation,
  RemovalRequest,
};
export const USER_RESPONSES = { UserResponse: User, TokenResponse: Token };
