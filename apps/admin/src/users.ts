/** Operations on users. Only the database guarantees uniqueness. The service sees every change at its next request. */
import { CliError, EXIT } from "@latchkey/cli";
import { type User, UserAlreadyExists, type UserRepository } from "@latchkey/database";
import { createHasher } from "@latchkey/hashing";
import { audited } from "./audit-log.ts";
import type { UserRef } from "./user-arguments.ts";

const PAGE_SIZE = 500;

/** @throws {CliError} with exit code 1 if the user does not exist, as the other functions here */
export async function findUser(users: UserRepository, ref: UserRef): Promise<User> {
  return "id" in ref
    ? expectUser(await users.findById(ref.id), ref)
    : expectUser(await users.findByEmail(ref.email), ref);
}

/**
 * Fails before a password is requested; the database's constraint is still required.
 * @throws {UserAlreadyExists}
 */
export async function expectUnused(
  users: UserRepository,
  { email, username }: { readonly email: string; readonly username: string },
): Promise<void> {
  const found = (await users.findByEmail(email)) ?? (await users.findByUsername(username));
  if (found) throw new UserAlreadyExists();
}

export async function setActive(users: UserRepository, ref: UserRef, isActive: boolean): Promise<User> {
  const { id } = await findUser(users, ref);
  const user = expectUser(await users.setActive(id, isActive), ref);
  return audited(isActive ? "user.activated" : "user.deactivated", user);
}

/** Also revokes all tokens. */
export async function replacePassword(users: UserRepository, user: User, hash: string): Promise<User> {
  return audited("password.changed", expectUser(await users.update(user.id, { hashedPassword: hash }), user));
}

export async function revokeTokens(users: UserRepository, ref: UserRef): Promise<User> {
  const { id } = await findUser(users, ref);
  return audited("tokens.revoked", expectUser(await users.revokeTokens(id), ref));
}

export async function deleteUser(users: UserRepository, user: User): Promise<void> {
  if (!(await users.delete(user.id))) expectUser(null, user);
  audited("user.deleted", user);
}

interface ListOptions {
  /** Lists users with larger ids. */
  readonly after: number;
  /** Maximum number of users. */
  readonly limit: number;
}

/** Non-empty pages in ascending order of ids. Each page starts after the last id of the previous page. */
export async function* listUsers(
  users: UserRepository,
  options: ListOptions,
): AsyncGenerator<readonly User[]> {
  let { after, limit } = options;
  while (limit > 0) {
    const page = await users.list({ after, limit: Math.min(limit, PAGE_SIZE) });
    const last = page.at(-1);
    if (!last) return;
    yield page;
    after = last.id;
    limit -= page.length;
  }
}

/** Hashes in one worker that exits afterwards. */
export async function hashPassword(password: string, kernel: string): Promise<string> {
  await using hasher = createHasher({ kernel, workers: 1 });
  return await hasher.hash(password);
}

function expectUser(user: User | null, ref: UserRef): User {
  if (user) return user;
  const name = "email" in ref ? `the e-mail address ${ref.email}` : `the id ${ref.id}`;
  throw new CliError(`No user has ${name}.`, EXIT.failed, "USER_NOT_FOUND");
}
