/** Functions that the commands for users share: finding and listing users, hashing a password, and logging changes. */
import { CliError, EXIT, toJson, writeError } from "@latchkey/cli";
import type { ListRequest, User, UserRepository } from "@latchkey/database";
import { createHasher } from "@latchkey/hashing";
import type { UserRef } from "./user-arguments.ts";

const PAGE_SIZE = 500;

/** @throws {CliError} with exit code 1 if the user does not exist */
export async function findUser(users: UserRepository, ref: UserRef): Promise<User> {
  return expectUser("id" in ref ? await users.findById(ref.id) : await users.findByEmail(ref.email), ref);
}

/** What a log line says about a change, besides its event and its user. */
export interface ChangeDetails {
  /** Who made the change. */
  readonly actor: string;
  /** Why the operator made the change. */
  readonly reason?: string | undefined;
  /** Only for `roles.changed`. */
  readonly roles?: readonly string[];
  readonly previous_roles?: readonly string[];
}

/**
 * Returns the changed user. Logs the change as one JSON line on standard error, unless standard error is a terminal. The line has
 * the fields and the event names of the service's log.
 * @throws {CliError} with exit code 1 if the user does not exist
 */
export function audited(event: string, ref: UserRef, changed: User | null, details: ChangeDetails): User {
  const user = expectUser(changed, ref);
  const { actor, reason, roles, previous_roles } = details;
  const time = new Date().toISOString();
  const line = { level: "info", time, event, user_id: user.id, actor, reason, roles, previous_roles };
  if (!process.stderr.isTTY) writeError(`${toJson({ ...line, msg: event })}\n`);
  return user;
}

/** Yields non-empty pages in ascending order of ids. Each page starts after the last id of the previous page. */
export async function* listUsers(users: UserRepository, request: Partial<ListRequest> = {}) {
  let { after = 0, limit = Number.POSITIVE_INFINITY } = request;
  while (limit > 0) {
    const page = await users.list({ ...request, after, limit: Math.min(limit, PAGE_SIZE) });
    const last = page.at(-1);
    if (!last) return;
    yield page;
    after = last.id;
    limit -= page.length;
  }
}

/** Hashes the password in one worker. The worker exits afterwards. */
export async function hashPassword(password: string, kernel: string): Promise<string> {
  await using hasher = createHasher({ kernel, workers: 1 });
  return await hasher.hash(password);
}

function expectUser(user: User | null, ref: UserRef): User {
  if (user) return user;
  const name = "email" in ref ? `the e-mail address ${ref.email}` : `the id ${ref.id}`;
  throw new CliError(`No user has ${name}.`, EXIT.failed, "USER_NOT_FOUND");
}
