/** Users in either database. Each method except `storeNetwork` is atomic: one statement or one transaction. */
import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  inArray,
  isNotNull,
  isNull,
  ne,
  notInArray,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import { createImports, isImported } from "./imports.ts";
import { MAX_NETWORKS, type UserRepository, type ValidToken } from "./repositories.ts";
import { type Orm, placeholders, type RepositoryClient, type Tables } from "./repository-client.ts";
import { singleRow } from "./row-decoder.ts";
import { isValidToken } from "./valid-token.ts";

const escapeLike = (text: string): string => text.replaceAll(/[!%_]/g, "!$&");

export function createUserRepository(client: RepositoryClient, tables: Tables): UserRepository {
  const { orm, prepare, attempt, attemptAll, transact } = client;
  const { users, userNetworks, passkeys, outbox, now, forShare } = tables;
  const { rememberDeletion, ...imports } = createImports(client, tables);
  const given = placeholders("id", "email", "networkDigest", "after", "limit", "text", "domain", "state");
  const byId = prepare(orm.select().from(users).where(eq(users.id, given.id)));
  const byEmail = prepare(
    orm
      .select({ ...getTableColumns(users), networkSeenAt: userNetworks.lastSeenAt })
      .from(users)
      .leftJoin(
        userNetworks,
        and(eq(userNetworks.userId, users.id), eq(userNetworks.networkDigest, given.networkDigest)),
      )
      .where(eq(users.email, given.email)),
  );
  /** The case is ignored as the database does it; SQLite knows only that of ASCII letters. */
  const contains = (column: SQLWrapper) => sql`lower(${column}) like lower(${given.text}) escape '!'`;
  const createPage = (condition?: SQL) => {
    const selected = and(
      gt(users.id, given.after),
      or(contains(users.email), contains(users.username)),
      sql`${users.email} like ${given.domain} escape '!'`,
      sql`case when ${users.isActive} then 'active' else 'inactive' end like ${given.state}`,
      condition,
    );
    return prepare(orm.select().from(users).where(selected).orderBy(asc(users.id)).limit(given.limit));
  };
  const [page, importedPage] = [createPage(), createPage(isNotNull(users.importedHash))];
  const networkTimes = prepare(
    orm
      .select({ lastSeenAt: userNetworks.lastSeenAt })
      .from(userNetworks)
      .where(eq(userNetworks.userId, given.id)),
  );

  const findById = async (id: number) => (await byId({ id }))[0] ?? null;

  const selected = (id: number, condition?: ValidToken) =>
    and(eq(users.id, id), condition && isValidToken(users, condition));

  /**
   * Needs a transaction if it revokes tokens or deactivates the user: then it also deletes the resets that wait, and for a new
   * e-mail, the verifications. Those that were attempted only end, because they can have been sent and count in the recipient's
   * budget.
   */
  const update = async (
    connection: Orm,
    values: PgUpdateSetSource<typeof users>,
    selection: SQL | undefined,
  ) => {
    const query = connection
      .update(users)
      .set({ ...values, updatedAt: now })
      .where(selection)
      .returning();
    const [user = null] = await query.execute();
    if (user && (values.tokenVersion !== undefined || values.isActive === false)) {
      const links = and(
        eq(outbox.userId, user.id),
        inArray(outbox.kind, values.email === undefined ? ["reset"] : ["reset", "verification"]),
        isNotNull(outbox.nextAttemptAt),
      );
      const unattempted = and(links, isNull(outbox.attemptedAt));
      await connection.delete(outbox).where(unattempted).execute();
      await connection.update(outbox).set({ nextAttemptAt: null }).where(links).execute();
    }
    return user;
  };

  /** Values that revoke all tokens of a user except one. */
  const revocation = (passwordChangeTokenId: string | null) => ({
    tokenVersion: sql`${users.tokenVersion} + 1`,
    passwordChangeTokenId,
  });

  return {
    findById,
    create: ({ email, username, hashedPassword, networkDigest, verifies }) =>
      transact(async (transaction) => {
        const query = transaction.insert(users).values({ email, username, hashedPassword }).returning();
        const user = singleRow(await query.execute());
        if (networkDigest !== undefined)
          await transaction.insert(userNetworks).values({ userId: user.id, networkDigest }).execute();
        if (verifies)
          await transaction.insert(outbox).values({ kind: "verification", userId: user.id }).execute();
        return user;
      }),
    findByEmail: async (email, networkDigest = "") => (await byEmail({ email, networkDigest }))[0] ?? null,
    storeNetwork: (userId, networkDigest, tokenVersion) => {
      const ofVersion = tokenVersion === undefined ? undefined : eq(users.tokenVersion, tokenVersion);
      const store = orm
        .insert(userNetworks)
        .select(
          // Waits for a password change that has not been committed.
          sql`select ${users.id}, ${networkDigest}, ${now} from ${users} where ${and(eq(users.id, userId), ofVersion)} ${forShare}`,
        )
        .onConflictDoUpdate({
          target: [userNetworks.userId, userNetworks.networkDigest],
          set: { lastSeenAt: now },
        });
      const ofUser = eq(userNetworks.userId, userId);
      const latest = orm
        .select({ networkDigest: userNetworks.networkDigest })
        .from(userNetworks)
        .where(ofUser)
        .orderBy(desc(userNetworks.lastSeenAt))
        .limit(MAX_NETWORKS);
      // A separate statement, which sees the rows of other replicas that were stored before it.
      const removeOthers = orm
        .delete(userNetworks)
        .where(and(ofUser, notInArray(userNetworks.networkDigest, latest)));
      return attemptAll(
        () => store.execute(),
        () => removeOthers.execute(),
      );
    },
    findNetworkTimes: async (id) => (await networkTimes({ id })).map(({ lastSeenAt }) => lastSeenAt),
    update: (id, change, condition) => {
      const { username, emailVerified, hashedPassword } = change;
      const { passwordChangeTokenId = null, keptNetworkDigest = "", networkDigest, notifies } = change;
      const { keepsPasskeys = false } = change;
      if (hashedPassword === undefined)
        return username === undefined && emailVerified === undefined
          ? findById(id)
          : attempt(() => update(orm, { username, emailVerified }, selected(id, condition)));
      const stored = { hashedPassword, importedHash: null, ...revocation(passwordChangeTokenId) };
      const passkeyRevision = keepsPasskeys ? undefined : sql`${users.passkeyRevision} + 1`;
      const values = { username, emailVerified, ...stored, passkeyRevision };
      return transact(async (transaction) => {
        const user = await update(transaction, values, selected(id, condition));
        if (!user) return null;
        // A separate statement, which sees the networks that were stored before the first one locked the user.
        const removed = and(eq(userNetworks.userId, id), ne(userNetworks.networkDigest, keptNetworkDigest));
        await transaction.delete(userNetworks).where(removed).execute();
        if (networkDigest !== undefined)
          await transaction.insert(userNetworks).values({ userId: id, networkDigest }).execute();
        if (!keepsPasskeys) await transaction.delete(passkeys).where(eq(passkeys.userId, id)).execute();
        if (notifies) await transaction.insert(outbox).values({ kind: "password", userId: id }).execute();
        return user;
      });
    },
    changeEmail: ({ id, ...old }, email, condition) =>
      transact(async (transaction) => {
        const passkeyRevision = sql`${users.passkeyRevision} + 1`;
        const values = { email, emailVerified: true, ...revocation(null), passkeyRevision };
        const user = await update(transaction, values, selected(id, condition));
        if (!user) return null;
        await transaction.delete(userNetworks).where(eq(userNetworks.userId, id)).execute();
        await transaction.delete(passkeys).where(eq(passkeys.userId, id)).execute();
        const { email: recipient, emailVerified: isRecipientVerified } = old;
        const sentByDueAt = { recipient, isRecipientVerified, nextAttemptAt: null };
        const dueAt = sql`coalesce(${outbox.dueAt}, ${outbox.nextAttemptAt})`;
        const isWaiting = or(isNotNull(outbox.dueAt), isNotNull(outbox.nextAttemptAt));
        const notifications = and(eq(outbox.userId, id), isNull(outbox.recipient), isWaiting);
        const redirected = transaction.update(outbox).set({ ...sentByDueAt, dueAt });
        await redirected.where(notifications).execute();
        const notification = { kind: "email", userId: id, ...sentByDueAt, dueAt: now } as const;
        await transaction.insert(outbox).values(notification).execute();
        // Otherwise, a repeated import would give the old e-mail and password another account.
        if (isImported(user)) await rememberDeletion(transaction, recipient);
        return user;
      }),
    rehash: async (user, hashedPassword) => {
      const unchanged = and(
        eq(users.id, user.id),
        eq(users.hashedPassword, user.hashedPassword),
        sql`${users.importedHash} = ${user.importedHash}`,
      );
      const values = { hashedPassword, importedHash: null };
      const query = orm.update(users).set(values).where(unchanged).returning({ id: users.id });
      return (await attempt(() => query.execute())).length > 0;
    },
    ...imports,
    revokeTokens: (id, condition) =>
      transact((transaction) => update(transaction, revocation(null), selected(id, condition))),
    setActive: async (id, isActive) => {
      const values = { isActive, ...(isActive && revocation(null)) };
      const isOther = and(selected(id), eq(users.isActive, !isActive));
      return (await transact((transaction) => update(transaction, values, isOther))) ?? findById(id);
    },
    setRoles: (id, roles) =>
      transact(async (transaction) => {
        // Locks the user: what the second statement removes is what the first one returns.
        const user = await update(transaction, {}, selected(id));
        const isRemoved = user?.roles.some((role) => !roles.includes(role));
        const values = { roles: [...roles], ...(isRemoved && revocation(null)) };
        return user && update(transaction, values, selected(id));
      }),
    delete: (id, condition) =>
      transact(async (transaction) => {
        const { email, importedAt, importedHash } = users;
        const query = transaction.delete(users).where(selected(id, condition));
        const [user] = await query.returning({ email, importedAt, importedHash }).execute();
        if (user && condition && isImported(user)) await rememberDeletion(transaction, user.email);
        return user !== undefined;
      }),
    deleteAll: async (ids) => {
      const query = orm
        .delete(users)
        .where(inArray(users.id, [...ids]))
        .returning({ id: users.id });
      return (await attempt(() => query.execute())).map(({ id }) => id);
    },
    list: ({ after, limit, isImported, isInactive, search = "", domain }) =>
      (isImported ? importedPage : page)({
        ...{ after, limit, state: isInactive ? "inactive" : "%", text: `%${escapeLike(search)}%` },
        domain: domain === undefined ? "%" : `%@${escapeLike(domain)}`,
      }),
  };
}
