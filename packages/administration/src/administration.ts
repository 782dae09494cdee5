/**
 * The changes that an operator makes to users, independent of the command line and of HTTP. Invariants: a change of several
 * members is one transaction, and every change that was made is audited with its operator.
 */
import {
  type Claims,
  isMailable,
  isNonexistent,
  isSameEmail,
  localPartOf,
  usernameCandidates,
} from "@latchkey/contracts";
import {
  type Database,
  hasPassword,
  noPassword,
  type OperatorChange,
  type NewUser as StoredUser,
  type User,
  UserAlreadyExists,
} from "@latchkey/database";
import { type Audit, changedNames, createChangeLog, givenTo, type Operator } from "./audit.ts";
import { AdministrationError } from "./errors.ts";

/** The e-mail address of a user, or the id, which identifies the user in the service's logs. */
export type UserRef = { readonly email: string } | { readonly id: number };

export type NewUser = Pick<
  StoredUser,
  "email" | "username" | "hashedPassword" | "roles" | "claims" | "locale" | "emailVerified"
>;

export interface AdministrationOptions {
  readonly database: Pick<Database, "users" | "passkeys" | "identities" | "factors" | "outbox">;
  /** Whether the service sends mails. */
  readonly sendsMail: boolean;
  readonly audit: Audit;
}

export interface Invitation extends Pick<User, "email"> {
  /** undefined: a new user has none, an existing one keeps them */
  readonly roles?: readonly string[] | undefined;
  /** undefined: a new user has none, an existing one keeps them */
  readonly claims?: Claims | undefined;
  /** undefined: a new user has none, an existing one keeps it */
  readonly locale?: string | undefined;
  /** @default false */
  readonly emailVerified?: boolean | undefined;
  /** undefined: generated from the e-mail */
  readonly username?: string | undefined;
}

interface ChangeRules {
  /** Whether a user with an unverified e-mail can get a role. @default only without mail */
  readonly allowsUnverified?: boolean;
}

export interface Administration {
  /** @throws USER_NOT_FOUND */
  find(ref: UserRef): Promise<User>;
  /** Creates an active user. @throws UserAlreadyExists */
  create(values: NewUser, operator: Operator): Promise<User>;
  /** Makes all changes or none. @throws USER_NOT_FOUND, EMAIL_NOT_VERIFIED, UserAlreadyExists */
  change(id: number, change: OperatorChange, operator: Operator, rules?: ChangeRules): Promise<User>;
  /** Ends all tokens of the user. @throws USER_NOT_FOUND */
  revokeTokens(id: number, operator: Operator): Promise<User>;
  /** @throws USER_NOT_FOUND */
  removePasskeys(id: number, operator: Operator): Promise<User>;
  /** @throws USER_NOT_FOUND */
  removeIdentities(id: number, operator: Operator): Promise<User>;
  /** Ends all tokens of the user, too. @throws USER_NOT_FOUND, FACTOR_NOT_FOUND */
  removeFactor(id: number, operator: Operator): Promise<User>;
  /**
   * Creates a user without a password, and mails a link to choose one, which no budget limits. An existing user without a password
   * gets the mail and the roles, if they are given: `isNew` is false.
   * @throws UserAlreadyExists, INACTIVE_USER, EMAIL_NOT_MAILABLE
   */
  invite(invitation: Invitation, operator: Operator): Promise<{ user: User; isNew: boolean }>;
  /** Mails the link that resets the password; no budget limits it. @throws USER_NOT_FOUND, INACTIVE_USER, EMAIL_NOT_MAILABLE */
  sendReset(id: number, operator: Operator): Promise<User>;
  /** @throws USER_NOT_FOUND */
  delete(id: number, operator: Operator): Promise<void>;
  /** Deletes these users in one statement. Returns the number of users who existed. */
  deleteAll(ids: readonly number[], operator: Operator): Promise<number>;
}

export function createAdministration({
  database: { users, passkeys, identities, factors, outbox },
  sendsMail: notifies,
  audit,
}: AdministrationOptions): Administration {
  const { write, writeChange } = createChangeLog(audit);

  const ending =
    (event: string, end: (id: number) => Promise<User | null>) =>
    async (id: number, operator: Operator): Promise<User> => {
      const user = expectUser(await end(id), { id });
      write(event, user, operator);
      return user;
    };

  /** @throws EMAIL_NOT_VERIFIED if the user would get a role without having proved the e-mail */
  const expectVerified = (user: User, { email = user.email, emailVerified, roles = [] }: OperatorChange) => {
    const isGranted = roles.some((role) => !user.roles.includes(role));
    if (!isGranted || (emailVerified ?? (user.emailVerified && isSameEmail(email, user.email)))) return;
    throw new AdministrationError(
      "EMAIL_NOT_VERIFIED",
      `The e-mail ${email} is not verified: anybody could have registered it.`,
    );
  };

  const change = async (
    id: number,
    values: OperatorChange,
    operator: Operator,
    check?: (user: User) => void,
  ): Promise<User> => {
    const options = { notifies, endedPassword: noPassword(), ...(check && { check }) };
    const changed = await users.changeAsOperator(id, values, options);
    if (!changed) return expectUser(null, { id });
    writeChange(changed.before, changed.user, values, operator);
    return changed.user;
  };

  /** Replaces the roles, the claims and the language of a user who was invited before. @throws UserAlreadyExists if the user has set a password */
  const inviteAgain = async (user: User, { roles, claims, locale }: Invitation, operator: Operator) => {
    const expectNoPassword = (current: User) => {
      if (hasPassword(current)) throw new UserAlreadyExists("email");
    };
    expectNoPassword(user);
    const changes = {
      roles: roles && !isEqualSet(roles, user.roles) ? roles : undefined,
      claims: claims && changedNames(claims, user.claims).length > 0 ? claims : undefined,
      locale: locale === user.locale ? undefined : locale,
    };
    const isSame = Object.values(changes).every((value) => value === undefined);
    const invited = isSame ? user : await change(user.id, changes, operator, expectNoPassword);
    await outbox.request("invitation", user.email, { isLimited: false });
    return invited;
  };

  /** @throws UserAlreadyExists */
  const createInvited = async (invitation: Invitation) => {
    const { email, username, roles = [], claims, locale, emailVerified = false } = invitation;
    for (const candidate of username === undefined ? usernameCandidates(localPartOf(email)) : [username]) {
      const values = { email, username: candidate, roles: [...roles], claims, locale, emailVerified };
      const user = { ...values, ...noPassword(), invites: true };
      const created = await users.create(user).catch((error: unknown) => {
        const isTaken = error instanceof UserAlreadyExists && error.field === "username";
        if (!isTaken || username !== undefined) throw error;
      });
      if (created) return created;
    }
    throw new UserAlreadyExists("username");
  };

  return {
    find: async (ref) =>
      expectUser("id" in ref ? await users.findById(ref.id) : await users.findByEmail(ref.email), ref),

    async create(values, operator) {
      const user = await users.create(values);
      write("user.registered", user, operator, givenTo(user));
      return user;
    },

    change: (id, values, operator, { allowsUnverified = !notifies } = {}) =>
      change(id, values, operator, allowsUnverified ? undefined : (user) => expectVerified(user, values)),

    revokeTokens: ending("tokens.revoked", (id) => users.revokeTokens(id)),
    removePasskeys: ending("passkey.removed", (id) => passkeys.deleteAll(id, { notifies })),
    removeIdentities: ending("identity.removed", (id) => identities.deleteAll(id, { notifies })),

    async removeFactor(id, operator) {
      const user = await factors.delete(id, { notifies });
      if (!user) {
        expectUser(await users.findById(id), { id });
        throw new AdministrationError("FACTOR_NOT_FOUND", "The user has no second factor.");
      }
      write("factor.removed", user, operator);
      return user;
    },

    async invite(invitation, operator) {
      const existing = await users.findByEmail(invitation.email);
      expectRecipient(existing ?? { email: invitation.email, isActive: true });
      const user = existing
        ? await inviteAgain(existing, invitation, operator)
        : await createInvited(invitation);
      write("user.invited", user, operator, existing ? {} : givenTo(user));
      return { user, isNew: existing === null };
    },

    async sendReset(id, operator) {
      const user = expectUser(await users.findById(id), { id });
      expectRecipient(user);
      await outbox.request("reset", user.email, { isLimited: false });
      write("reset.requested", user, operator);
      return user;
    },

    async delete(id, operator) {
      if (!(await users.delete(id))) expectUser(null, { id });
      write("user.deleted", { id }, operator);
    },

    async deleteAll(ids, operator) {
      const deleted = await users.deleteAll(ids);
      for (const id of deleted.toSorted((one, other) => one - other)) write("user.deleted", { id }, operator);
      return deleted.length;
    },
  };
}

const isEqualSet = (some: readonly string[], others: readonly string[]): boolean =>
  new Set(some).symmetricDifference(new Set(others)).size === 0;

/** @throws INACTIVE_USER, EMAIL_NOT_MAILABLE */
function expectRecipient({ email, isActive }: Pick<User, "email" | "isActive">): void {
  if (!isActive) throw new AdministrationError("INACTIVE_USER", "An inactive user gets no mail.");
  if (isNonexistent(email) || !isMailable(email))
    throw new AdministrationError(
      "EMAIL_NOT_MAILABLE",
      "This e-mail gets no mail: its domain does not exist, or it could be read as another one.",
    );
}

function expectUser(user: User | null, ref: UserRef): User {
  if (user) return user;
  const name = "email" in ref ? `the e-mail address ${ref.email}` : `the id ${ref.id}`;
  throw new AdministrationError("USER_NOT_FOUND", `No user has ${name}.`);
}
