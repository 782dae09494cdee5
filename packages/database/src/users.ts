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
  isNull,
  ne,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import { createEmailChanges } from "./email-changes.ts";
import { UserAlreadyExists } from "./errors.ts";
import { createImports } from "./imports.ts";
import { createNetworks } from "./networks.ts";
import { createOperatorChanges } from "./operator-changes.ts";
import {
  type Orm,
  type PageRequest,
  placeholders,
  type RepositoryClient,
  type Tables,
} from "./repository-client.ts";
import { singleRow } from "./row-decoder.ts";
import type { User } from "./tables.ts";
import { isValidToken, type ValidToken } from "./token-revocation.ts";

export interface NewUser extends Pick<User, "email" | "username" | "hashedPassword"> {
  /** A network that is stored together with the user. */
  readonly networkDigest?: string | undefined;
  /** Whether a verification mail is written to the outbox together with the user. @default false */
  readonly verifies?: boolean;
  /** @default none */
  readonly roles?: readonly string[] | undefined;
  /** @default false */
  readonly emailVerified?: boolean | undefined;
}

export interface UserChange {
  readonly username?: string;
  readonly emailVerified?: boolean;
  /**
   * A new hash revokes all tokens except `passwordChangeTokenId`. A new hash also deletes the passkeys, the resets in the
   * outbox, and all networks except `keptNetworkDigest`.
   */
  readonly hashedPassword?: string;
  /** The `jti` of a token that a new hash does not revoke. @default null */
  readonly passwordChangeTokenId?: string | null;
  readonly keptNetworkDigest?: string | undefined;
  /** A network that is stored together with a new hash. */
  readonly networkDigest?: string | undefined;
  /** Whether a new hash keeps the passkeys: true if the logged-in user changes the password. @default false */
  readonly keepsPasskeys?: boolean;
  /** Whether a new hash writes a notification to the outbox. @default false */
  readonly notifies?: boolean;
}

/** Selects the users that meet all conditions. */
export interface ListRequest extends PageRequest {
  /** Only users with an imported hash. @default false */
  readonly isImported?: boolean;
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
  const { users, userNetworks, passkeys, outbox, now } = tables;
  const { rememberDeletion, ...imports } = createImports(client, tables);
  const given = placeholders("id", "email", "asciiEmail", "unicodeEmail", "networkDigest");
  const byId = prepare(orm.select().from(users).where(eq(users.id, given.id)));
  const columns = { ...getTableColumns(users), networkSeenAt: userNetworks.lastSeenAt };
  const isNetwork = eq(userNetworks.networkDigest, given.networkDigest);
  const isOwn = and(eq(userNetworks.userId, users.id), isNetwork);
  const withNetwork = orm.select(columns).from(users).leftJoin(userNetworks, isOwn);
  const forms = [given.email, given.asciiEmail, given.unicodeEmail];
  const order = sql`case ${users.email} when ${given.email} then 0 when ${given.asciiEmail} then 1 else 2 end`;
  const byEmail = prepare(withNetwork.where(inArray(users.email, forms)).orderBy(order).limit(1));
  const findByEmail = async (sent: string, networkDigest = "") => {
    const [email, asciiEmail, unicodeEmail] = emailForms(sent);
    return (await byEmail({ email, asciiEmail, unicodeEmail, networkDigest }))[0] ?? null;
  };

  /** @throws UserAlreadyExists if a user has the address in another form. The database only compares exactly. */
  const expectFreeEmail = async (transaction: Orm, email: string, exceptId = 0): Promise<void> => {
    const others = emailForms(email).filter((form) => form !== email);
    if (others.length === 0) return;
    const isOther = and(inArray(users.email, others), ne(users.id, exceptId));
    const found = await transaction.select({ id: users.id }).from(users).where(isOther);
    if (found.length > 0) throw new UserAlreadyExists("email");
  };

  /** Sets the field of the error. The databases report different constraints if both values are taken. */
  const explainConflict =
    (findField: () => "email" | "username" | Promise<"email" | "username">) =>
    async (error: unknown): Promise<never> => {
      throw error instanceof UserAlreadyExists ? new UserAlreadyExists(await findField()) : error;
    };

  const findById = async (id: number) => (await byId({ id }))[0] ?? null;

  const selected = (id: number, condition?: ValidToken) =>
    and(eq(users.id, id), condition && isValidToken(users, condition));

  /**
   * A change that revokes tokens or deactivates the user also deletes the waiting resets. A new e-mail also deletes the
   * waiting verifications. A mail with an earlier attempt is not deleted, because the attempt can have succeeded and counts in
   * the recipient's budget. Such a mail is never sent again.
   */
  const update = async (
    transaction: Orm,
    values: PgUpdateSetSource<typeof users>,
    selection: SQL | undefined,
  ): Promise<User | null> => {
    const query = transaction.update(users).set({ ...values, updatedAt: now });
    const [user = null] = await query.where(selection).returning();
    if (user && (values.tokenVersion !== undefined || values.isActive === false)) {
      const links = and(
        eq(outbox.userId, user.id),
        inArray(outbox.kind, values.email === undefined ? ["reset"] : ["reset", "verification"]),
        isNotNull(outbox.nextAttemptAt),
      );
      await transaction.delete(outbox).where(and(links, isNull(outbox.attemptedAt)));
      await transaction.update(outbox).set({ nextAttemptAt: null }).where(links);
    }
    return user;
  };

  /** Values that revoke all tokens of a user except `passwordChangeTokenId`. */
  const revocation = (passwordChangeTokenId: string | null) => ({
    tokenVersion: sql`${users.tokenVersion} + 1`,
    passwordChangeTokenId,
  });

  /** Values that must be set when all passkeys are deleted. */
  const withoutPasskeys = { passkeyRevision: sql`${users.passkeyRevision} + 1` };

  /** Deletes all networks except `keptNetworkDigest`. Deletes all passkeys unless `keepsPasskeys` is set. */
  const forgetDevices = async (
    transaction: Orm,
    id: number,
    { keptNetworkDigest = "", keepsPasskeys = false }: UserChange = {},
  ) => {
    // Runs after the caller's update of the user. Only a separate statement sees all networks that were stored before that
    // update locked the user.
    const removed = and(eq(userNetworks.userId, id), ne(userNetworks.networkDigest, keptNetworkDigest));
    await transaction.delete(userNetworks).where(removed);
    if (!keepsPasskeys) await transaction.delete(passkeys).where(eq(passkeys.userId, id));
  };

  const { lock, replaceEmail, ...emailChanges } = createEmailChanges(client, tables, {
    update,
    endLogins: () => ({ ...revocation(null), ...withoutPasskeys }),
    forgetDevices,
    rememberDeletion,
    expectFreeEmail,
    explainConflict,
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
    /** @throws UserAlreadyExists */
    create: (user: NewUser) =>
      transact(async (transaction) => {
        const { email, username, hashedPassword, emailVerified, networkDigest } = user;
        await expectFreeEmail(transaction, email);
        const values = { email, username, hashedPassword, emailVerified, roles: [...(user.roles ?? [])] };
        const created: User = singleRow(await transaction.insert(users).values(values).returning());
        if (networkDigest !== undefined)
          await transaction.insert(userNetworks).values({ userId: created.id, networkDigest });
        if (user.verifies)
          await transaction.insert(outbox).values({ kind: "verification", userId: created.id });
        return created;
      }).catch(explainConflict(async () => ((await findByEmail(user.email)) ? "email" : "username"))),
    /**
     * Finds the user with one of the forms of the address (`emailForms`), in this order. The caller must trim and lowercase the
     * address. `networkSeenAt` in the result is the time when the network was last stored for this user, or null.
     */
    findByEmail,
    /**
     * Sets `updatedAt` unless `change` is empty. Returns null if the user does not exist or the condition is not met. The
     * condition is not checked if `change` is empty.
     * @throws UserAlreadyExists
     */
    update: async (id: number, change: UserChange, condition?: ValidToken): Promise<User | null> => {
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
      ...{ lock, update, revocation, replaceEmail, replacePassword },
      ...{ findByEmail, explainConflict },
    }),
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
    ...imports,
    /**
     * Revokes all tokens and deletes the resets in the outbox. Returns null if the user does not exist or the condition is
     * not met.
     */
    revokeTokens: (id: number, condition?: ValidToken) =>
      transact((transaction) => update(transaction, revocation(null), selected(id, condition))),
    /**
     * Returns false if the user does not exist or the condition is not met.
     * @param condition the owner's token. If it is set, imports skip the e-mail for 90 days
     * @param options.notifies whether a notification is written to the outbox. @default false
     */
    delete: (id: number, condition?: ValidToken, { notifies = false } = {}) =>
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
    list: ({ after, limit, isImported, isInactive, search, domain }: ListRequest) => {
      /** Ignores the case by the rules of the database. SQLite ignores the case of ASCII letters only. */
      const contains = (column: SQLWrapper, text: string) =>
        sql`lower(${column}) like lower(${`%${escapeLike(text)}%`}) escape '!'`;
      const conditions = and(
        gt(users.id, after),
        isImported ? isNotNull(users.importedHash) : undefined,
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
