/**
 * Prepares a database that can have lost transactions, such as a restored backup. Invariants: an id that a lost row had is not
 * assigned again, because applications know users by id. No token that was ever issued has the version of its user. After a move
 * that lost nothing but the states of the sequences, only the ids are raised.
 */
import { ID_MAX } from "@latchkey/contracts";
import { isNull, sql } from "drizzle-orm";
import { IdsExhausted } from "../errors.ts";
import { numberEvents } from "../repositories/events.ts";
import { admitEarlierReleases } from "../repositories/factors.ts";
import { singleRow } from "../row-decoder.ts";
import type { ExclusiveSession, SessionTable } from "./exclusive-session.ts";

/** The tables with an identity column. */
export const IDENTITY_TABLES = ["users", "todos", "identities", "outbox", "events"] as const;

/** Ids by table. New rows get higher ids. */
export type LastIds = Readonly<Record<(typeof IDENTITY_TABLES)[number], number>>;

export interface RaiseOptions {
  /** Returns the new last ids. A lower one than before is ignored. */
  readonly raise: (lastIds: LastIds) => LastIds;
  /** Deletes all passkeys and identities: a backup also has those that users have removed since. @default false */
  readonly withoutPasskeys?: boolean | undefined;
  /** Deletes all second factors, for example because their key is lost. Earlier releases then start again. @default false */
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
  events: idOf("events"),
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
  const lastIds = { ...lastIdsOf(() => 0) };
  for (const name of IDENTITY_TABLES) lastIds[name] = await session.lastId(tableOf(name));
  const raised = raise(lastIds);
  for (const name of IDENTITY_TABLES) {
    lastIds[name] = Math.max(lastIds[name], raised[name]);
    if (lastIds[name] >= ID_MAX) throw new IdsExhausted(name);
    await session.setLastId(tableOf(name), lastIds[name]);
  }
  if (keepsTokens) return lastIds;
  const days = await beginEpoch(session, lastIds.events);
  const values = {
    tokenVersion: sql`${users.tokenVersion} + ${dialect.randomTo(MAX_VERSIONS)}`,
    passwordChangeTokenId: null,
    // Invitations are not bound to the version.
    linkRevision: sql`${users.linkRevision} + ${dialect.randomTo(MAX_VERSIONS)}`,
    ...(withoutFactors && { factorId: null }),
    ...(withoutPasskeys && { passkeyRevision: sql`${users.passkeyRevision} + 1` }),
  };
  await orm.update(users).set(values).execute();
  if (withoutFactors) {
    await orm.delete(factors).execute();
    await admitEarlierReleases(orm, dialect);
  }
  if (withoutPasskeys) for (const table of [passkeys, identities]) await orm.delete(table).execute();
  if (days !== null) lastIds.events = await recordRestore(session, days, tableOf("events"));
  return lastIds;
}

/** Stops recording, and returns the days that `recordRestore` needs. A position is never higher than the latest id of an event. */
async function beginEpoch(
  { orm, select, dialect }: ExclusiveSession,
  lastId: number,
): Promise<number | null> {
  const { eventsState } = dialect.tables;
  const [state] = await select(orm.select().from(eventsState));
  if (!state) return null;
  const lastPosition = Math.max(state.lastPosition, lastId);
  const values = { epoch: crypto.randomUUID(), days: null, lastPosition };
  await orm.update(eventsState).set(values).execute();
  return state.days;
}

/** Records one event instead of one of each user. It gets its time now, not when it is read: a later token is valid. */
async function recordRestore(session: ExclusiveSession, days: number, table: SessionTable): Promise<number> {
  const { orm, select, dialect } = session;
  const { events, eventsState } = dialect.tables;
  await orm.update(eventsState).set({ days }).execute();
  await orm.insert(events).values({ type: "database.restored" }).execute();
  const waiting = orm.select({ id: events.id }).from(events).where(isNull(events.position)).limit(1);
  while ((await select(waiting)).length > 0) await numberEvents(orm, dialect);
  const { lastPosition } = singleRow(await select(orm.select().from(eventsState)));
  const lastId = Math.max(lastPosition, await session.lastId(table));
  await session.setLastId(table, lastId);
  return lastId;
}
