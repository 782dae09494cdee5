/** The wire shapes of the administration over HTTP. */
import Type from "typebox";
import { USERNAME_MAX_LENGTH } from "./bounds.ts";
import { Claims } from "./claims.ts";
import { Email, NewEmail, Password, Username } from "./credentials.ts";
import { hasLocales, type Language, type Languages } from "./languages.ts";
import { PAGE_PARAMETERS, pageOf } from "./pages.ts";
import { ROLE_PATTERN, SEARCHED_EMAIL_PATTERN, Timestamp, text, VISIBLE_TEXT_PATTERN } from "./text.ts";
import { Locale, Roles, toDetailedUser, User, withNewLocale } from "./users.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [1] });
const Flag = Type.Boolean({ examples: [true] });

/** Why an operator makes a change, for the log. */
export const Reason = text({
  pattern: VISIBLE_TEXT_PATTERN,
  minLength: 1,
  maxLength: 200,
  description: "Why the change is made. It is only logged.",
  examples: ["ticket 42"],
});

export const AdminUser = Type.Object({
  ...User.properties,
  roles: Roles,
  claims: Claims,
  last_login_at: Type.Union([Timestamp, Type.Null()], {
    description: "The time of the latest login, at most a day too early. null: no login is known.",
  }),
  has_password: Type.Boolean({ description: "false: every password is wrong.", examples: [true] }),
  imported: Type.Boolean({
    description: "Whether the password still has the hash of another system, until the next login.",
    examples: [false],
  }),
  passkeys: count("The number of passkeys."),
  identities: count("The number of identities of OpenID Connect providers."),
  networks: count("The number of networks from which the user logged in within 30 days."),
});
export interface AdminUser extends Type.Static<typeof AdminUser> {
  /** Only with several languages. */
  readonly locale?: string | null;
}

/** Returns `AdminUser` with the members that the configuration adds. */
export const adminUser = (languages: Languages) =>
  Type.Unsafe<AdminUser>(
    Type.Object(
      { ...AdminUser.properties, ...(hasLocales(languages) && { locale: Type.Optional(Locale) }) },
      { $id: "AdminUserResponse" },
    ),
  );

/** What a user has besides the members of the read shape. */
type AdminUserDetails = Omit<AdminUser, keyof ReturnType<typeof toDetailedUser>>;

interface AdminUserRules {
  readonly hasLocale: boolean;
}

/** Copies only the listed members, so that a new column is never exposed by accident. */
export const toAdminUser = (
  stored: Parameters<typeof toDetailedUser>[0],
  { last_login_at, has_password, imported, passkeys, identities, networks }: AdminUserDetails,
  { hasLocale }: AdminUserRules,
): AdminUser => ({
  ...toDetailedUser({ ...stored, locale: null }),
  ...(hasLocale && { locale: stored.locale }),
  last_login_at,
  has_password,
  imported,
  passkeys,
  identities,
  networks,
});

export const AdminUserPage = pageOf(AdminUser);
export const adminUserPage = (languages: Languages) =>
  pageOf(adminUser(languages), { $id: "AdminUserPageResponse" });

const QueryFlag = Type.Enum(["true", "false"], { type: "string", examples: ["true"] });

export const AdminUserQuery = Type.Object({
  email: Type.Optional(
    text({
      pattern: SEARCHED_EMAIL_PATTERN,
      description: "The exact e-mail. Send `+` as `%2B`.",
      examples: ["ada@example.com"],
    }),
  ),
  search: Type.Optional(
    text({
      pattern: VISIBLE_TEXT_PATTERN,
      minLength: 1,
      description: "The beginning of the e-mail or of the username. The case is ignored.",
      examples: ["ada"],
    }),
  ),
  state: Type.Optional(Type.Enum(["active", "inactive"], { type: "string", examples: ["active"] })),
  role: Type.Optional(
    text({ pattern: ROLE_PATTERN, description: "A role of the user.", examples: ["admin"] }),
  ),
  without_password: Type.Optional(QueryFlag),
  ...PAGE_PARAMETERS,
});
export type AdminUserQuery = Type.Static<typeof AdminUserQuery>;

export const AdminUserPath = Type.Object({ id: User.properties.id });

/** The query of a change that has no body. */
export const AdminReasonQuery = Type.Object({ reason: Type.Optional(Reason) });

export const CreateAdminUserRequest = Type.Object(
  {
    email: NewEmail,
    username: Type.Optional({
      ...Username,
      description: `1 to ${USERNAME_MAX_LENGTH} characters. Optional with \`invite\`: then made of the e-mail.`,
    }),
    password: Type.Optional(Password),
    invite: Type.Optional(
      Type.Literal(true, {
        description: "In place of `password`: mails a link with which the user sets one.",
      }),
    ),
    roles: Type.Optional(Roles),
    claims: Type.Optional(Claims),
    email_verified: Type.Optional(Flag),
    reason: Type.Optional(Reason),
  },
  // A body that depends on the configuration is a copy. `$id` keeps its name in the OpenAPI document.
  {
    $id: "CreateAdminUserRequest",
    examples: [{ email: "ada@example.com", username: "ada", password: "correct horse battery staple" }],
  },
);
export interface CreateAdminUserRequest extends Type.Static<typeof CreateAdminUserRequest> {
  readonly locale?: Language | null;
}

export const UpdateAdminUserRequest = Type.Object(
  {
    username: Type.Optional(Username),
    email: Type.Optional({
      ...Email,
      description:
        "Trimmed, lowercased and, if the domain is internationalized, converted to ASCII (`xn--…`). The present e-mail, in whichever form, changes nothing.",
    }),
    password: Type.Optional(Password),
    roles: Type.Optional(Roles),
    claims: Type.Optional(Claims),
    is_active: Type.Optional(Flag),
    email_verified: Type.Optional(Flag),
    reason: Type.Optional(Reason),
  },
  { $id: "UpdateAdminUserRequest", examples: [{ is_active: false, reason: "ticket 42" }] },
);
export interface UpdateAdminUserRequest extends Type.Static<typeof UpdateAdminUserRequest> {
  readonly locale?: Language | null;
}
export const createAdminUserRequest = (languages: Languages) =>
  Type.Object(withNewLocale(CreateAdminUserRequest.properties, languages), {
    $id: "CreateAdminUserRequest",
    examples: [{ email: "ada@example.com", username: "ada", password: "correct horse battery staple" }],
  });
export const updateAdminUserRequest = (languages: Languages) =>
  Type.Object(withNewLocale(UpdateAdminUserRequest.properties, languages), {
    $id: "UpdateAdminUserRequest",
    examples: [{ is_active: false, reason: "ticket 42" }],
  });

export const AdminStats = Type.Object({
  users: count("All users."),
  inactive: count("Deactivated users."),
  active_30_days: count("Users who logged in within 30 days."),
  second_factor: Type.Optional(count("Users with a second factor; only if second factors are on.")),
  imported: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
    description: "Users whose password still has the hash of another system, by format.",
    examples: [{ bcrypt: 12 }],
  }),
});
export type AdminStats = Type.Static<typeof AdminStats>;

/** What happens if a user logs in now, in the order in which the service decides. */
export const AdminExplanation = Type.Array(
  Type.Object({
    code: Type.String({ description: "A stable name of the state.", examples: ["inactive"] }),
    message: Type.String({ description: "A sentence for people.", examples: ["The user is inactive."] }),
    command: Type.Optional(
      Type.String({
        description: "The command of the admin tool that changes the state.",
        examples: ["bun run admin users activate 1"],
      }),
    ),
  }),
);
export type AdminExplanation = Type.Static<typeof AdminExplanation>;

/** The keys are the names in the OpenAPI document of the administration. */
export const ADMIN_SCHEMAS = {
  CreateAdminUserRequest,
  UpdateAdminUserRequest,
  AdminUserResponse: AdminUser,
  AdminUserPageResponse: AdminUserPage,
  AdminStatsResponse: AdminStats,
  AdminExplanationResponse: AdminExplanation,
};
