/** What an operator does with accounts. The database alone decides uniqueness; each change counts at the service's next request. */
import { type User, UserAlreadyExists, type UserRepository } from "@latchkey/database";
import { createHasher } from "@latchkey/hashing";
import { AccountNotFound } from "./failures.ts";
import type { Who } from "./people.ts";

const PAGE_SIZE = 500;

/** @throws AccountNotFound */
export async function findAccount(users: UserRepository, who: Who): Promise<User> {
  const user = "id" in who ? await users.findById(who.id) : await users.findByEmail(who.email);
  return user ?? notFound(who);
}

/**
 * Tells the operator early, before a password is typed; the constraint still decides.
 * @throws UserAlreadyExists
 */
export async function expectFree(users: UserRepository, email: string): Promise<void> {
  if (await users.findByEmail(email)) throw new UserAlreadyExists();
}

/** @throws AccountNotFound */
export async function setActive(users: UserRepository, who: Who, isActive: boolean): Promise<User> {
  const { id } = await findAccount(users, who);
  return (await users.setActive(id, isActive)) ?? notFound(who);
}

/** @throws AccountNotFound if it has gone since it was found */
export async function replacePassword(
  users: UserRepository,
  user: User,
  hashedPassword: string,
): Promise<User> {
  return (await users.update(user.id, { hashedPassword })) ?? notFound(user);
}

/** @throws AccountNotFound if it has gone since it was found */
export async function deleteAccount(users: UserRepository, user: User): Promise<void> {
  if (!(await users.delete(user.id))) notFound(user);
}

export interface Span {
  /** Accounts with a larger id than this. */
  readonly after: number;
  /** Accounts in all, at most. */
  readonly limit: number;
}

/** Pages in ascending order of id, none of them empty; each starts where the one before ended, whatever changed meanwhile. */
export async function* listAccounts(users: UserRepository, span: Span): AsyncGenerator<readonly User[]> {
  let { after, limit } = span;
  while (limit > 0) {
    const page = await users.list({ after, limit: Math.min(limit, PAGE_SIZE) });
    const last = page.at(-1);
    if (!last) return;
    yield page;
    after = last.id;
    limit -= page.length;
  }
}

/** The stored form of a password, made by one worker that ends with the call. */
export async function hashPassword(password: string, kernel: string): Promise<string> {
  await using hasher = createHasher({ kernel, workers: 1 });
  return await hasher.hash(password);
}

function notFound(who: Who): never {
  throw new AccountNotFound(
    "email" in who ? `No account has the e-mail address ${who.email}.` : `No account has the id ${who.id}.`,
  );
}
