/** Registration. The database enforces that e-mails and usernames are unique. */
import type { RegisterRequest } from "@latchkey/contracts";
import { type Database, type User, UserAlreadyExists } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import { ServiceError } from "../../errors.ts";
import type { RequestContext } from "../../request-context.ts";
import type { NetworkDigestOf } from "./familiar-networks.ts";

interface RegistrationOptions extends Pick<Database, "users"> {
  readonly hasher: Pick<Hasher, "hash">;
  readonly networkDigestOf: NetworkDigestOf;
  readonly sendsMail: boolean;
  readonly isOpen: boolean;
}

/** @throws UserAlreadyExists, or REGISTRATION_CLOSED */
export type Register = (user: RegisterRequest, request: RequestContext) => Promise<User>;

export const createRegistration =
  ({ users, hasher, networkDigestOf, sendsMail, isOpen }: RegistrationOptions): Register =>
  async ({ email, username, password, locale }, request) => {
    if (!isOpen) throw new ServiceError("REGISTRATION_CLOSED");
    const { signal, network, audit } = request;
    // Only checks that the database is reachable. The result is ignored: response times must not reveal registered e-mails.
    await users.findByEmail(email);
    const hashedPassword = await hasher.hash(password, { signal });
    const networkDigest = networkDigestOf({ email, network });
    const values = { email, username, hashedPassword, locale, networkDigest };
    const created = users.create({ ...values, verifies: sendsMail });
    const user = await created.catch((error) => {
      if (error instanceof UserAlreadyExists) audit("user.rejected", email);
      throw error;
    });
    audit("user.registered", email, user.id);
    return user;
  };
