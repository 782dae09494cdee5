/** Parses and formats one line of an import or export: a user as a JSON object. Reasons for a rejection contain no hash. */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { CliError } from "@latchkey/cli";
import { ID_MAX, RegisterRequest, SHIPPED_LANGUAGES, USERNAME_MAX_LENGTH } from "@latchkey/contracts";
import {
  hasPassword,
  type ImportedUser,
  type LoginMeans,
  noPassword,
  type User,
  validImportedHash,
} from "@latchkey/database";
import * as hashing from "@latchkey/hashing";
import Type from "typebox";
import { Compile } from "typebox/schema";
import { parseClaims } from "../claims.ts";
import { parseNewEmail, parseRoles, parseUsername } from "../user-arguments.ts";

export interface LineUser extends ImportedUser {
  /** `latchkey` is this service's own format; `none` means no hash, followed by the line's `null_reason`. */
  readonly format: string;
}

/** The upper half of the ids is left to new users. */
const Id = Type.Optional(Type.Integer({ minimum: 1, maximum: Math.floor(ID_MAX / 2) }));
const IDS = { id: Id, last_id: Id };
const LINE_IDS = Compile(Type.Object(IDS));

const USERNAME = Compile(RegisterRequest.properties.username);

const LINE = Compile(
  Type.Object(
    {
      ...IDS,
      email: Type.String(),
      password_hash: Type.Union([Type.String({ pattern: "^[^\\0]*$" }), Type.Null()]),
      username: Type.Optional(Type.String()),
      is_active: Type.Optional(Type.Boolean()),
      email_verified: Type.Optional(Type.Boolean()),
      created_at: Type.Optional(Type.String({ format: "date-time" })),
      /** An import does not store the time, because the user has not logged in here. */
      last_login_at: Type.Optional(Type.String({ format: "date-time" })),
      roles: Type.Optional(Type.Array(Type.String())),
      claims: Type.Optional(Type.Unknown()),
      /** Any language of this release, so that an export can be imported whatever `LANGUAGES` is. */
      locale: Type.Optional(Type.Enum(SHIPPED_LANGUAGES)),
      /** The number of passkeys. Passkeys cannot be exported. */
      passkeys: Type.Optional(Type.Integer()),
      /** The number of identities. Identities cannot be exported. */
      identities: Type.Optional(Type.Integer()),
      /** Whether the user has a second factor. Second factors cannot be exported. */
      second_factor: Type.Optional(Type.Boolean()),
      null_reason: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9_-]{1,31}$" })),
    },
    { additionalProperties: false },
  ),
);

/** Returns the user, or why the line is rejected. `lastId`: the larger of the line's `id` and `last_id`, or 0 without both. */
export function parseLine(text: string, { usernameFromEmail }: { readonly usernameFromEmail: boolean }) {
  let lastId = 0;
  try {
    const line: unknown = JSON.parse(text);
    if (LINE_IDS.Check(line)) lastId = Math.max(line.id ?? 0, line.last_id ?? 0);
    return { user: parseUser(line, text, usernameFromEmail), lastId };
  } catch (error) {
    // The message of the JSON parser must not be printed, because that message quotes the line.
    if (error instanceof SyntaxError) return { user: "The line is not valid JSON.", lastId };
    if (error instanceof CliError || error instanceof hashing.UnsupportedHash)
      return { user: error.message, lastId };
    throw error;
  }
}

function parseUser(line: unknown, text: string, usernameFromEmail: boolean): LineUser | string {
  if (!LINE.Check(line)) {
    const [, [error]] = LINE.Errors(line);
    // For an unknown member, the validator reports the keyword `boolean`: `additionalProperties: false` is the member's schema.
    const message = error?.keyword === "boolean" ? "is not a supported member" : error?.message;
    return `${error?.instancePath.slice(1) || "The line"} ${message}.`;
  }
  const email = parseNewEmail(line.email);
  const isGenerated = usernameFromEmail && !USERNAME.Check(line.username);
  const username = isGenerated ? usernameOf(email) : line.username;
  if (username === undefined) return "The username is missing; --username-from-email generates it.";
  const createdAt = line.created_at === undefined ? undefined : new Date(line.created_at);
  if (createdAt && !(createdAt.getTime() >= 0 && createdAt.getTime() <= Date.now()))
    return "created_at must be after 1970 and not in the future.";
  return {
    email,
    username: parseUsername(username),
    ...parseHash(line.password_hash, line.null_reason),
    isActive: line.is_active,
    emailVerified: line.email_verified,
    createdAt: createdAt?.toISOString(),
    roles: line.roles && parseRoles(line.roles),
    claims: line.claims === undefined ? undefined : parseClaims(line.claims, text, Object.keys(line).length),
    locale: line.locale,
  };
}

function parseHash(hash: string | null, nullReason?: string) {
  const none = nullReason === undefined ? "none" : `none (${nullReason})`;
  if (hash === null) return { ...noPassword(), format: none };
  if (hashing.isStoredHash(hash)) return { hashedPassword: hash, importedHash: null, format: "latchkey" };
  hashing.parseImportedHash(hash);
  const format = hashing.hashFormat(hash);
  return { hashedPassword: hashing.bindImportedHash(hash), importedHash: hash, format };
}

/** The part before the `@` and a digest of the e-mail address: unique, and always the same for an address. */
function usernameOf(email: string): string {
  const suffix = `-${createHash("sha256").update(email).digest("hex").slice(0, 8)}`;
  const [name = ""] = email.split("@");
  return [...name].slice(0, USERNAME_MAX_LENGTH - suffix.length).join("") + suffix;
}

/** Returns the names of the members in which the user in the database differs from the line. */
export function differences(existing: User, line: LineUser): string[] {
  const hash = validImportedHash(existing);
  // If the line's hash has another format than `latchkey`, a login can have replaced the hash since the import.
  const isSameOrReplaced = line.format !== "latchkey" || existing.hashedPassword === line.hashedPassword;
  const same = {
    username: existing.username === line.username,
    password_hash: hash === null ? isSameOrReplaced : hash === line.importedHash,
    is_active: existing.isActive === (line.isActive ?? existing.isActive),
    email_verified: existing.emailVerified === (line.emailVerified ?? existing.emailVerified),
    created_at: existing.createdAt === (line.createdAt ?? existing.createdAt),
    roles: `${existing.roles}` === `${line.roles ?? existing.roles}`,
    claims: isDeepStrictEqual(existing.claims, line.claims ?? existing.claims),
    locale: existing.locale === (line.locale ?? existing.locale),
  };
  return Object.entries(same).flatMap(([name, isSame]) => (isSame ? [] : [name]));
}

/** Formats the line of an export. An import of the line creates the same user with another id. */
export function formatLine(user: User, last_id: number, means?: LoginMeans): string {
  const { id, email, username, hashedPassword, createdAt: created_at } = user;
  const own = hashing.isStoredHash(hashedPassword) && hasPassword(user) ? hashedPassword : null;
  const login = { email, username, password_hash: validImportedHash(user) ?? own };
  const roles = user.roles.length > 0 && { roles: user.roles };
  const claims = Object.keys(user.claims).length > 0 && { claims: user.claims };
  const locale = user.locale !== null && { locale: user.locale };
  const flags = { is_active: user.isActive, email_verified: user.emailVerified };
  const times = { created_at, ...(user.lastLoginAt !== null && { last_login_at: user.lastLoginAt }) };
  const counts = { passkeys: means?.passkeys || undefined, identities: means?.identities || undefined };
  const factor = user.factorId !== null && { second_factor: true };
  return JSON.stringify({
    id,
    last_id,
    ...login,
    ...flags,
    ...times,
    ...roles,
    ...claims,
    ...locale,
    ...counts,
    ...factor,
  });
}
