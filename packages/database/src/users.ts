/**
 * Users in either database. Each change except that of `storeNetwork` is one statement or one transaction, and therefore atomic.
 */
import { emailForms } from "@latchkey/contracts";
import {
  and,
  asc,
  eq,
  getTableColumns,
  gt,
  inArray,
  isNotNull,
  ne,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import { createEmailChanges } from "./email-changes.ts";
import { matchEmailForms } from "./email-forms.ts";
import { type Guard, meetsGuard } from "./guard.ts";
import { insertIdentity, type NewIdentity } from "./identities.ts";
import { createImports, NO_PASSWORD } from "./imports.ts";
import { createLoginCodes } from "./login-codes.ts";
import { createNetworks } from "./networks.ts";
import { createOperatorChanges } from "./operator-changes.ts";
import { sentByDueAt, UNLIMITED } from "./outbox.ts";
import {
  type Orm,
  type PageRequest,
  placeholders,
  type RepositoryClient,
  type Tables,
} from "./repository-client.ts";
import { singleRow } from "./row-decoder.ts";
import type { User } from "./tables.ts";
import { createUserChanges, explainConflict } from "./user-changes.ts";
import { createUserSearch } from "./user-search.ts";

export interface NewUser extends Pick<User, "email" | "username" | "hashedPassword"> {
  /** @default null */
  readonly importedHash?: string | null;
  /** @default false */
  readonly emailVerified?: boolean | undefined;
  /** @default no roles */
  readonly roles?: string[];
  /** A network that is stored together with the user. */
  readonly networkDigest?: string | undefined;
  /** Whether a verification mail is written to the outbox together with the user. @default false */
  readonly verifies?: boolean;
  /** Whether an invitation, which no budget limits, is written to the outbox together with the user. @default false */
  readonly invites?: boolean;
}

export interface UserChange {
  readonly username?: string;
  readonly emailVerified?: boolean;
  /**
   * A new hash revokes all tokens except `passwordChangeTokenId`. A new hash also deletes the passkeys, the identities, the
   * resets in the outbox, and all networks except `keptNetworkDigest`.
   */
  readonly hashedPassword?: string;
  /** The `jti` of a token that a new hash does not revoke. @default null */
  readonly passwordChangeTokenId?: string | null;
  readonly keptNetworkDigest?: string | undefined;
  /** A network that is stored together with a new hash. */
  readonly networkDigest?: string | undefined;
  /** Whether a new hash keeps the passkeys and identities: true if the logged-in user changes the password. @default false */
  readonly keepsPasskeys?: boolean;
  /** Whether a new hash writes a notification to the outbox. @default false */
  readonly notifies?: boolean;
}

/** Selects the users that meet all conditions. */
export interface ListRequest extends PageRequest {
  /** Only users with an imported hash. @default false */
  readonly isImported?: boolean;
  /** Only users without a password. @default false */
  readonly isWithoutPassword?: boolean;
  /** Only inactive users. @default false */
  readonly isInactive?: boolean;
  /** Only users whose e-mail or username contains this text. The case of ASCII letters is ignored. @default all */
  readonly search?: string | undefined;
  /** Only users whose e-mail has this domain, in any of its forms. The domain must be in lower case. @default all */
  readonly domain?: string | undefined;
}

const escapeLike = (text: string): string => text.replaceAll(/[!%_]/g, "!$&");

/** Ids are positive safe integers and are never reused. */
export function createUserRepository(client: RepositoryClient, tables: Tables) {
  const { orm, prepare, run, transact } = client;
  const { users, userNetworks, outbox, now } = tables;
  const changes = createUserChanges(tables);
  const { update, revocation, withoutPasskeys, forgetDevices, expectFreeEmail } = changes;
  const { rememberDeletion, ...imports } = createImports(client, tables);
  const given = placeholders("id", "email", "asciiEmail", "unicodeEmail", "networkDigest");
  const byId = prepare(orm.select().from(users).where(eq(users.id, given.id)));
  const columns = { ...getTableColumns(users), networkSeenAt: userNetworks.lastSeenAt };
  const isNetwork = eq(userNetworks.networkDigest, given.networkDigest);
  const isOwn = and(eq(userNetworks.userId, users.id), isNetwork);
  const withNetwork = () => orm.select(columns).from(users).leftJoin(userNetworks, isOwn);
  const forms = matchEmailForms(users, [given.email, given.asciiEmail, given.unicodeEmail]);
  const byEmail = prepare(withNetwork().where(forms.hasForm).orderBy(forms.order).limit(1));
  const findByEmail = async (sent: string, networkDigest = "") => {
    const [email, asciiEmail, unicodeEmail] = emailForms(sent);
    return (await byEmail({ email, asciiEmail, unicodeEmail, networkDigest }))[0] ?? null;
  };

  const byIdWithNetwork = prepare(withNetwork().where(eq(users.id, given.id)));
  const findById = async (id: number) => (await byId({ id }))[0] ?? null;

  const selected = (id: number, condition?: Guard) =>
    and(eq(users.id, id), condition && meetsGuard(users, condition));

  const { lock, replaceEmail, ...emailChanges } = createEmailChanges(client, tables, {
    ...changes,
    rememberDeletion,
  });

  /** Stores a new hash and the other values of the change. Returns null if no user meets the condition. */
  const replacePassword = async (
    transaction: Orm,
    change: UserChange & Pick<User, "hashedPassword">,
    selection: SQL | undefined,
  ): Promise<User | null> => {
    const { username, emailVerified, hashedPassword, networkDigest } = change;
    const { passwordChangeTokenId = null, keepsPasskeys, notifies } = change;
    const values = {
      ...{ username, emailVerified, hashedPassword, importedHash: null },
      ...revocation(passwordChangeTokenId),
      ...(!keepsPasskeys && withoutPasskeys),
    };
    const user = await update(transaction, values, selection);
    if (!user) return null;
    await forgetDevices(transaction, user.id, change);
    if (networkDigest !== undefined)
      await transaction.insert(userNetworks).values({ userId: user.id, networkDigest });
    if (notifies) await transaction.insert(outbox).values({ kind: "password", userId: user.id });
    return user;
  };

  return {
    findById,
    /**
     * Creates the user and, if given, an identity that logs in.
     * @throws UserAlreadyExists
     * @throws IdentityAlreadyUsed
     */
    create: ({ networkDigest, verifies, invites, ...values }: NewUser, identity?: NewIdentity) =>
      transact(async (transaction) => {
        await expectFreeEmail(transaction, values.email);
        const user: User = singleRow(await transaction.insert(users).values(values).returning());
        const userId = user.id;
        if (networkDigest !== undefined)
          await transaction.insert(userNetworks).values({ userId, networkDigest });
        if (identity) await insertIdentity(transaction, tables, { ...identity, userId, isUsed: true });
        if (verifies) await transaction.insert(outbox).values({ kind: "verification", userId });
        if (invites)
          await transaction
            .insert(outbox)
            .values({ kind: "invitation", userId, emailDigest: UNLIMITED, ...sentByDueAt(tables) });
        return user;
      }).catch(explainConflict(async () => ((await findByEmail(values.email)) ? "email" : "username"))),
    /**
     * Finds the user with one of the forms of the address (`emailForms`), in this order. The caller must trim and lowercase the
     * address. `networkSeenAt` in the result is the time when the network was last stored for this user, or null.
     */
    findByEmail,
    /** Finds the user of a login whose user is already known. `networkSeenAt` as in the result of `findByEmail`. */
    findWithNetwork: async (id: number, networkDigest = "") =>
      (await byIdWithNetwork({ id, networkDigest }))[0] ?? null,
    /**
     * Sets `updatedAt` unless `change` is empty. Returns null if the user does not exist or the condition is not met. The
     * condition is not checked if `change` is empty.
     * @throws UserAlreadyExists
     */
    update: async (id: number, change: UserChange, condition?: Guard): Promise<User | null> => {
      const { username, emailVerified, hashedPassword } = change;
      if (hashedPassword === undefined) {
        if (username === undefined && emailVerified === undefined) return findById(id);
        const query = orm.update(users).set({ username, emailVerified, updatedAt: now });
        const updated = run(query.where(selected(id, condition)).returning());
        return (await updated.catch(explainConflict(() => "username")))[0] ?? null;
      }
      return transact((transaction) =>
        replacePassword(transaction, { ...change, hashedPassword }, selected(id, condition)),
      ).catch(explainConflict(() => "username"));
    },
    /** Returns false if the user was deleted, or has another e-mail than the given one. */
    verifyEmail: async ({ id, email }: Pick<User, "id" | "email">) => {
      const query = orm.update(users).set({ emailVerified: true, updatedAt: now });
      const verified = query.where(and(eq(users.id, id), eq(users.email, email)));
      return (await run(verified.returning({ id: users.id }))).length > 0;
    },
    ...emailChanges,
    ...createOperatorChanges(client, tables, {
      ...changes,
      ...{ lock, replaceEmail, replacePassword, findByEmail },
    }),
    ...createLoginCodes(client, tables, changes),
    /**
     * Replaces an imported hash by a new hash of the same password, and changes nothing else. Returns false if the user does
     * not exist or the stored hashes have changed.
     */
    rehash: async (user: User, hashedPassword: string) => {
      const unchanged = and(
        eq(users.id, user.id),
        eq(users.hashedPassword, user.hashedPassword),
        sql`${users.importedHash} = ${user.importedHash}`,
      );
      const query = orm.update(users).set({ hashedPassword, importedHash: null }).where(unchanged);
      return (await run(query.returning({ id: users.id }))).length > 0;
    },
    ...createNetworks(client, tables),
    ...createUserSearch(client, tables),
    ...imports,
    /**
     * Revokes all tokens and deletes the resets in the outbox. Returns null if the user does not exist or the condition is
     * not met.
     */
    revokeTokens: (id: number, condition?: Guard) =>
      transact((transaction) => update(transaction, revocation(), selected(id, condition))),
    /**
     * Returns false if the user does not exist or the condition is not met.
     * @param condition the owner's token. If it is set, imports skip the e-mail for 90 days
     * @param options.notifies whether a notification is written to the outbox. @default false
     */
    delete: (id: number, condition?: Guard, { notifies = false } = {}) =>
      transact(async (transaction) => {
        const [user] = await transaction.delete(users).where(selected(id, condition)).returning();
        if (user && condition) await rememberDeletion(transaction, user.email);
        if (user && notifies) {
          const { email: recipient, emailVerified: isRecipientVerified } = user;
          const mail = { kind: "deletion", userId: id, recipient, isRecipientVerified } as const;
          await transaction.insert(outbox).values({ ...mail, nextAttemptAt: null, dueAt: now });
        }
        return user !== undefined;
      }),
    /** Deletes the users in one statement. Returns the ids of the users that existed. */
    deleteAll: async (ids: readonly number[]) => {
      const query = orm.delete(users).where(inArray(users.id, [...ids]));
      return (await run(query.returning({ id: users.id }))).map(({ id }) => id);
    },
    list: (request: ListRequest) => {
      const { after, limit, isImported, isWithoutPassword, isInactive, search, domain } = request;
      /** Ignores the case by the rules of the database. SQLite ignores the case of ASCII letters only. */
      const contains = (column: SQLWrapper, text: string) =>
        sql`lower(${column}) like lower(${`%${escapeLike(text)}%`}) escape '!'`;
      const conditions = and(
        gt(users.id, after),
        isImported ? and(isNotNull(users.importedHash), ne(users.importedHash, NO_PASSWORD)) : undefined,
        isWithoutPassword ? eq(users.importedHash, NO_PASSWORD) : undefined,
        isInactive ? eq(users.isActive, false) : undefined,
        search === undefined
          ? undefined
          : or(contains(users.email, search), contains(users.username, search)),
        domain === undefined
          ? undefined
          : or(
              ...emailForms(`@${domain}`).map(
                (form) => sql`${users.email} like ${`%${escapeLike(form)}`} escape '!'`,
              ),
            ),
      );
      return prepare(orm.select().from(users).where(conditions).orderBy(asc(users.id)).limit(limit))({});
    },
  };
}
