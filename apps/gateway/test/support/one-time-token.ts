/** Signs tokens as the links of mails contain them. */
import type { LinkKind } from "@latchkey/contracts";
import type { User } from "@latchkey/database";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { createOneTimeTokens, type TokenUser } from "../../src/tokens/one-time-tokens.ts";
import type { Service } from "./service.ts";

const { sign } = createOneTimeTokens([SECRET_KEY]);

/** Of a service with the default key. @param options.expiresAt by default in a minute */
export const signOneTimeToken = (
  kind: LinkKind,
  user: TokenUser,
  { expiresAt = Date.now() + 60_000 } = {},
): string => sign(kind, expiresAt, user);

/** Requests a change of e-mail whose mail is not sent. Returns the user, for whom its tokens can be signed. */
export async function beginEmailChange(
  { database, readUser }: Service,
  id: number,
  email: string,
): Promise<User> {
  const user = await readUser(id);
  const condition = { version: user.tokenVersion, exceptToken: null };
  const options = { stateOf: () => "", capacity: Number.POSITIVE_INFINITY };
  await database.users.requestEmailChange(user, email, condition, options);
  return readUser(id);
}
