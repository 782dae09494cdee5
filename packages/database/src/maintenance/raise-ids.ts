/**
 * Prepares a database that can have lost transactions, such as a restored backup. Invariants: an id that a lost row had is not
 * assigned again, because applications know users by id. No token that was ever issued has the version of its user. After a move
 * that lost nothing but the states of the sequences, only the ids are raised.
 */
import { ID_MAX } from "@latchkey/contracts";
import { sql } from "drizzle-orm";
import { IdsExhausted } from "../errors.ts";
import type { ExclusiveSession } from "./exclusive-session.ts";

/** The tables with an identity column. */
export const IDENTITY_TABLES = ["users", "todos", "identities", "outbox"] as const;

/** Ids by table. New rows get higher ids. */
export type LastIds = Readonly<Record<(typeof IDENTITY_TABLES)[number], number>>;

export interface RaiseOptions {
  /** Returns the new last ids. A lower one than before is ignored. */
  readonly raise: (lastIds: LastIds) => LastIds;
  /** Deletes all passkeys and identities: a backup also has those that users have removed since. @default false */
  readonly withoutPasskeys?: boolean | undefined;
  /** Deletes all second factors, for example because their key is lost. @default false */
  readonly withoutFactors?: boolean | undefined;
  /** Changes nothing but the ids of new rows: no transaction was lost. @default false */
  readonly keepsTokens?: boolean | undefined;
}

/** Far more than a service can assign between two backups. */
export const LOST_IDS = 1_000_000;

/** A token can have any lower version. With a random number, nobody knows the version that a token would need. */
const MAX_VERSIONS = 2 ** 20;

export const lastIdsOf = (idOf: (table: keyof LastIds) => number): LastIds => ({
  users: idOf("users"),
  todos: idOf("todos"),
  identities: idOf("identities"),
  outbox: idOf("outbox"),
});

export const raisedBy = (lastIds: LastIds, by: number): LastIds => lastIdsOf((table) => lastIds[table] + by);

/** Returns the new last ids. @throws IdsExhausted */
export async function raiseIds(
  session: ExclusiveSession,
  { raise, withoutPasskeys = false, withoutFactors = false, keepsTokens = false }: RaiseOptions,
): Promise<LastIds> {
  const { orm, tables, dialect } = session;
  const { users, passkeys, identities, factors } = dialect.tables;
  const tableOf = (name: keyof LastIds) => {
    const table = tables.find((one) => one.name === name);
    if (!table) throw new Error(`The schema has no table ${name}`);
    return table;
  };
  const lastIds = { users: 0, todos: 0, identities: 0, outbox: 0 };
  for (const name of IDENTITY_TABLES) lastIds[name] = await session.lastId(tableOf(name));
  const raised = raise(lastIds);
  for (const name of IDENTITY_TABLES) {
    lastIds[name] = Math.max(lastIds[name], raised[name]);
    if (lastIds[name] >= ID_MAX) throw new IdsExhausted(name);
    await session.setLastId(tableOf(name), lastIds[name]);
  }
  if (keepsTokens) return lastIds;
  const values = {
    tokenVersion: sql`${users.tokenVersion} + ${dialect.randomTo(MAX_VERSIONS)}`,
    passwordChangeTokenId: null,
    // Invitations are not bound to the version.
    linkRevision: sql`${users.linkRevision} + ${dialect.randomTo(MAX_VERSIONS)}`,
    ...(withoutFactors && { factorId: null }),
    ...(withoutPasskeys && { passkeyRevision: sql`${users.passkeyRevision} + 1` }),
  };
  await orm.update(users).set(values).execute();
  if (withoutFactors) await orm.delete(factors).execute();
  if (withoutPasskeys) for (const table of [passkeys, identities]) await orm.delete(table).execute();
  return lastIds;
}
