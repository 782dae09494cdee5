/**
 * Passkeys. Invariants: adding or removing a passkey locks the user and increments `passkeyRevision`. A passkey uses a challenge for
 * only one login, across all replicas, whether it counts or not: `usedStatements` has the digests of used challenges.
 */
import { and, asc, eq, getTableColumns, lt, or, type SQL, sql } from "drizzle-orm";
import type { Dialect, Orm } from "../dialect.ts";
import type { Passkey, User } from "../tables.ts";
import { type Guard, meetsGuard } from "./guard.ts";
import { insertMail } from "./insert-mail.ts";
import { createMethodRemovals, type MethodChange, type MethodRemovals } from "./login-methods.ts";
import { placeholders, type RepositoryClient } from "./repository-client.ts";

/** The maximum number of passkeys of one user. */
const MAX_PASSKEYS = 10;
/** The maximum number of used challenges that are stored with a passkey. */
export const MAX_USED_CHALLENGES = 8;

/** The condition that a user must meet to get a new passkey. */
interface PasskeyCondition extends Guard {
  readonly tokenVersion: number;
  /** The user's `passkeyRevision`. */
  readonly revision: number;
}

/**
 * `counter`: the counter has not grown. `used`: the challenge was used before. `busy`: until `freeAt`, which is compared with
 * `forgetBefore`, the passkey has too many used challenges. `credential`: the passkey does not exist any more.
 */
type PasskeyUseResult =
  | { readonly result: "accepted" | "counter" | "used" | "credential" }
  | { readonly result: "busy"; readonly freeAt: number };

/** The use of a challenge for one login with a passkey. */
interface PasskeyUse extends Pick<Passkey, "id" | "counter"> {
  readonly digest: string;
  /** In milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Used challenges with an earlier `expiresAt` are deleted, because no replica accepts such a challenge any more. */
  readonly forgetBefore: number;
}

/** A passkey, together with the members of the user that a login needs. */
export interface FoundPasskey extends Passkey, Pick<User, "email" | "tokenVersion"> {
  readonly userHandle: string | null;
}

export interface PasskeyRepository extends MethodRemovals<string> {
  findById(id: string): Promise<FoundPasskey | null>;
  /** Returns the user's passkeys, the oldest first. */
  list(userId: number): Promise<Passkey[]>;
  /** Returns the user's handle, or null if the user does not exist. Stores `candidate` if the user has no handle. */
  chooseUserHandle(userId: number, candidate: string): Promise<string | null>;
  /** Returns null if the condition is not met, the user already has `MAX_PASSKEYS` passkeys, or the id is taken. */
  create(
    passkey: Pick<Passkey, "id" | "userId" | "publicKey" | "counter" | "name">,
    condition: PasskeyCondition,
    change: MethodChange,
  ): Promise<Passkey | null>;
  /** Stores a login and its challenge, or returns why the login is rejected. */
  use(use: PasskeyUse): Promise<PasskeyUseResult>;
}

export function createPasskeyRepository(client: RepositoryClient, dialect: Dialect): PasskeyRepository {
  const { orm, prepare, attempt, run, transact } = client;
  const { tables, now, jsonMembers, jsonObject } = dialect;
  const { passkeys, users } = tables;
  const given = placeholders("id", "userId", "counter", "digest", "expiresAt", "forgetBefore");
  const { passkeyUserHandle } = users;
  const columns = {
    ...getTableColumns(passkeys),
    email: users.email,
    tokenVersion: users.tokenVersion,
    userHandle: passkeyUserHandle,
  };
  const withUser = orm.select(columns).from(passkeys).innerJoin(users, eq(users.id, passkeys.userId));
  const byId = prepare(withUser.where(eq(passkeys.id, given.id)));
  const ofUser = orm.select().from(passkeys).where(eq(passkeys.userId, given.userId));
  const oldestFirst = prepare(ofUser.orderBy(asc(passkeys.createdAt), asc(passkeys.id)));

  const used = jsonMembers(passkeys.usedStatements);
  const remembered = sql`${used} where cast(value as bigint) >= ${given.forgetBefore}`;
  const entry = sql`select cast(${given.digest} as text), cast(${given.expiresAt} as text)`;
  // Built once, because building this query takes a quarter of the processor time of a login.
  const logIn = orm
    .update(passkeys)
    .set({
      counter: sql`${given.counter}`,
      lastUsedAt: now,
      // Also if the passkey counts: its authenticator can sign the same challenge twice, each time with another counter.
      usedStatements: sql`(select ${jsonObject}(key, value) from (select key, value from ${remembered} union all ${entry}) as used)`,
    })
    .where(
      and(
        eq(passkeys.id, given.id),
        or(
          lt(passkeys.counter, given.counter),
          and(eq(passkeys.counter, 0), eq(passkeys.counter, given.counter)),
        ),
        sql`not exists (select 1 from ${used} where key = ${given.digest})`,
        sql`(select count(*) from ${remembered}) < ${MAX_USED_CHALLENGES}`,
      ),
    )
    .returning({ id: passkeys.id })
    .prepare("use_passkey");

  /** Locks the user and returns the user, or null if the condition is not met. */
  const incrementRevision = async (transaction: Orm, userId: number, condition?: SQL) => {
    const query = transaction.update(users).set({ passkeyRevision: sql`${users.passkeyRevision} + 1` });
    const [user = null] = await query.where(and(eq(users.id, userId), condition)).returning();
    return user;
  };

  return {
    findById: async (id) => (await byId({ id }))[0] ?? null,
    list: (userId) => oldestFirst({ userId }),
    chooseUserHandle: async (userId, candidate) => {
      const handle = sql`coalesce(${passkeyUserHandle}, ${candidate})`;
      const query = orm.update(users).set({ passkeyUserHandle: handle }).where(eq(users.id, userId));
      return (await run(query.returning({ handle: passkeyUserHandle })))[0]?.handle ?? null;
    },
    create: (passkey, { revision, tokenVersion, ...token }, { notifies }) =>
      transact(async (transaction) => {
        const { userId } = passkey;
        const own = sql`(select count(*) from ${passkeys} where ${eq(passkeys.userId, userId)})`;
        // The revision lets only one of several concurrent additions succeed. If all additions succeeded, the
        // user could exceed `MAX_PASSKEYS`, because each addition counts only the earlier passkeys.
        const condition = and(
          meetsGuard(users, token),
          eq(users.tokenVersion, tokenVersion),
          eq(users.passkeyRevision, revision),
          lt(own, MAX_PASSKEYS),
        );
        if (!(await incrementRevision(transaction, userId, condition))) return null;
        const query = transaction.insert(passkeys).values(passkey).onConflictDoNothing().returning();
        const [created = null] = await query;
        if (created && notifies) await insertMail(transaction, dialect, { kind: "passkey", userId });
        return created;
      }),
    use: async ({ expiresAt, ...use }) => {
      const stored = await attempt(() => logIn.execute({ ...use, expiresAt: String(expiresAt) }));
      if (stored.length > 0) return { result: "accepted" };
      const [passkey] = await byId({ id: use.id });
      if (!passkey) return { result: "credential" };
      const statements: Readonly<Record<string, string>> = JSON.parse(passkey.usedStatements);
      // Before the counter: a response that is sent twice is no sign of a copied authenticator.
      if (use.digest in statements) return { result: "used" };
      if (passkey.counter > 0 && use.counter <= passkey.counter) return { result: "counter" };
      const [freeAt = use.forgetBefore] = Object.values(statements)
        .map(Number)
        .filter((time) => time >= use.forgetBefore)
        .sort((one, other) => one - other);
      return { result: "busy", freeAt };
    },
    ...createMethodRemovals<string>(client, dialect, {
      table: passkeys,
      isId: (id) => eq(passkeys.id, id),
      kind: "passkey",
      lock: incrementRevision,
    }),
  };
}
