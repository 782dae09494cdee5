/** The line of an import and of an export, and what operators read: which columns of `users` they contain. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { toDetailedUser, updateAdminUserRequest } from "@latchkey/contracts";
import type { User } from "@latchkey/database";
import { ROOT } from "@latchkey/testing/repository";
import { querySqlite } from "@latchkey/testing/sqlite";
import { differences, formatLine, parseLine } from "../../src/import/user-line.ts";
import { openSharedDatabase } from "../support/shared-database.ts";

/** What a column is in a line and in the read shapes. null: this service alone knows it. */
type Member = { readonly line: string; readonly isRead?: boolean } | null;

/** A new column needs an entry, and every member of an entry is checked below. */
const COLUMNS: Readonly<Record<keyof User, Member>> = {
  id: { line: "id", isRead: true },
  email: { line: "email", isRead: true },
  username: { line: "username", isRead: true },
  hashedPassword: { line: "password_hash" },
  importedHash: { line: "password_hash" },
  isActive: { line: "is_active", isRead: true },
  emailVerified: { line: "email_verified", isRead: true },
  createdAt: { line: "created_at", isRead: true },
  lastLoginAt: { line: "last_login_at" },
  roles: { line: "roles", isRead: true },
  claims: { line: "claims", isRead: true },
  locale: { line: "locale", isRead: true },
  factorId: { line: "second_factor" },
  updatedAt: null,
  importedAt: null,
  tokenVersion: null,
  passwordChangeTokenId: null,
  passkeyRevision: null,
  passkeyUserHandle: null,
  pendingEmail: null,
  linkRevision: null,
  loginCodeRevision: null,
};
/** The columns that an import leaves to the service: it assigns the id, and nobody has logged in here. */
const NOT_IMPORTED = ["id", "last_login_at", "second_factor"];

const USER: User = {
  id: 7,
  email: "ada@example.com",
  username: "ada",
  hashedPassword: `${"a".repeat(32)}$${"b".repeat(64)}`,
  importedHash: null,
  isActive: false,
  emailVerified: true,
  createdAt: "2026-01-31T10:20:30.123Z",
  updatedAt: "2026-02-01T10:20:30.123Z",
  lastLoginAt: "2026-02-02T10:20:30.123Z",
  roles: ["admin"],
  claims: { plan: "pro" },
  locale: "de",
  factorId: "factor",
  importedAt: null,
  tokenVersion: 3,
  passwordChangeTokenId: null,
  passkeyRevision: 1,
  passkeyUserHandle: null,
  pendingEmail: null,
  linkRevision: 1,
  loginCodeRevision: 1,
};

const named = (isIncluded: (member: NonNullable<Member>) => boolean | undefined) =>
  [
    ...new Set(
      Object.values(COLUMNS).flatMap((member) => (member && isIncluded(member) ? [member.line] : [])),
    ),
  ].sort();

test("every column of users is in the line of an export, or named as one that only this service knows", async () => {
  await using shared = await openSharedDatabase();
  const columns = await querySqlite<{ name: string }>(
    shared.env.DATABASE_URL,
    "select name from pragma_table_info('users')",
  );
  const names = Object.keys(COLUMNS).map((name) =>
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  );
  expect(names.sort()).toEqual(columns.map(({ name }) => name).sort());
  const { last_id, ...line } = JSON.parse(formatLine(USER, 9)) as Record<string, unknown>;
  expect([last_id, Object.keys(line).sort()]).toEqual([9, named(() => true)]);
});

test("the documents name every member of a line, and of a change by an operator", async () => {
  const read = (path: string) => Bun.file(join(ROOT, path)).text();
  const [imports, administration] = [await read("docs/import.md"), await read("docs/administration.md")];
  const help = await read("apps/admin/src/commands/import.ts");
  expect(named(() => true).filter((name) => !imports.includes(`\`${name}\``))).toEqual([]);
  const imported = named(({ line }) => line === "id" || !NOT_IMPORTED.includes(line));
  expect(imported.filter((name) => !help.includes(name))).toEqual([]);
  const members = Object.keys(updateAdminUserRequest(["en", "de"]).properties);
  expect(members.filter((name) => !administration.includes(`\`${name}\``))).toEqual([]);
});

test("operators read every column that a line contains, except hashes and what has a shape of its own", () => {
  const shape = Object.keys(toDetailedUser(USER)).filter((name) => name !== "updated_at");
  expect(shape.sort()).toEqual(named(({ isRead }) => isRead));
});

test("an import of an exported line has its values, and a line with another value differs in it", () => {
  const { user } = parseLine(formatLine(USER, 9), { usernameFromEmail: false });
  if (typeof user === "string") throw new Error(user);
  expect(differences(USER, user)).toEqual([]);
  const other: User = {
    ...{ ...USER, username: "other", hashedPassword: `${"c".repeat(32)}$${"d".repeat(64)}`, isActive: true },
    ...{ emailVerified: false, createdAt: "2026-01-30T10:20:30.123Z", roles: [], claims: {}, locale: "en" },
  };
  // Users are compared by their e-mail.
  const imported = named(({ line }) => line !== "email" && !NOT_IMPORTED.includes(line));
  expect(differences(other, user).sort()).toEqual(imported);
});
