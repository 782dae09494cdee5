/**
 * What happened to users, in one order for all readers. Triggers write the events in the transaction of the change. Invariants: an
 * event gets its position only after its commit, so no later event has a lower position. Events are deleted from the lowest position
 * on, so a reader can tell whether one was deleted.
 */
import { randomUUID } from "node:crypto";
import { and, asc, gt, gte, isNotNull, isNull, lte, sql } from "drizzle-orm";
import type { Dialect, Orm } from "../dialect.ts";
import type { EventRow } from "../tables.ts";
import { DAY_SECONDS } from "./mail-budgets.ts";
import { placeholders, type RepositoryClient } from "./repository-client.ts";
import { readSlices, SLICE_ROWS } from "./slices.ts";

/** Limits how long other readers, and in the embedded database other writers, wait. */
const MAX_NUMBERED = 1_000;

/** `userId` is null if the event concerns all users. The state of the user is that after the change, and null if the user is deleted. */
export interface AccountEvent extends Omit<EventRow, "id" | "position" | "changed"> {
  readonly position: number;
  /** Names of members, such as `email_verified`. */
  readonly changed: readonly string[];
}

export interface EventState {
  /** For how many days events are kept. */
  readonly days: number;
  /** Positions of another epoch are not valid. */
  readonly epoch: string;
  /** The highest position that an event has ever had, or 0. */
  readonly lastPosition: number;
  /** Whether committed events wait for their positions: the next `read` finds them. */
  readonly isNumbered: boolean;
}

export interface EventPage extends Pick<EventState, "epoch"> {
  /** In the order of positions. */
  readonly items: readonly AccountEvent[];
  /** After this position, the next page continues: that of the last event, or without events the latest one. */
  readonly lastPosition: number;
  /** Whether an event after the given position was deleted, or no event has had the given position yet. */
  readonly isExpired: boolean;
}

/** A place between two events. */
export interface EventPlace extends Pick<EventState, "epoch"> {
  /** That of the event before the place. */
  readonly position: number;
}

/** Where a method returns null, events are not recorded. */
export interface EventRepository {
  /** One short query, for those who wait for events. */
  getState(): Promise<EventState | null>;
  /** @param request.after null: from the oldest event on */
  read(request: { readonly after: number | null; readonly limit: number }): Promise<EventPage | null>;
  /** The place after all events that are committed now. */
  placeNow(): Promise<EventPlace | null>;
  /** The place before the first event that is at most `seconds` old. */
  placeSince(seconds: number): Promise<EventPlace | null>;
  /** Deletes the events that are older than `days`. Returns how many. */
  prune(): Promise<number>;
  /** Returns the number of stored events. */
  count(): Promise<number>;
  /** Starts recording with a new epoch. If events are recorded already, only the number of days changes. */
  enable(days: number): Promise<void>;
  /** Stops recording, and deletes all events. */
  disable(): Promise<void>;
}

/** Numbers at most `MAX_NUMBERED` committed events, lowest ids first. Must run in a transaction. */
export async function numberEvents(
  transaction: Pick<Orm, "execute">,
  { tables, clock, forUpdate }: Pick<Dialect, "tables" | "clock" | "forUpdate">,
): Promise<void> {
  const { events, eventsState } = tables;
  const nameOf = (column: { readonly name: string }) => sql.identifier(column.name);
  const { id, position, createdAt } = events;
  const { lastPosition } = eventsState;
  await transaction.execute(sql`select ${lastPosition} from ${eventsState} ${forUpdate}`);
  // Sees what was committed before the lock, because it begins after it (READ COMMITTED). All rows get one time.
  const limit = sql.raw(`${MAX_NUMBERED}`);
  const waiting = sql`select ${id} as id from ${events} where ${position} is null order by ${id} limit ${limit}`;
  const last = sql`(select ${lastPosition} from ${eventsState})`;
  await transaction.execute(sql`
    update ${events} set ${nameOf(position)} = numbered.next, ${nameOf(createdAt)} = (select ${clock})
    from (select id, ${last} + row_number() over (order by id) as next from (${waiting}) as waiting) as numbered
    where ${id} = numbered.id`);
  const highest = sql`(select max(${position}) from ${events} where ${position} is not null)`;
  await transaction.execute(sql`
    update ${eventsState} set ${nameOf(lastPosition)} = ${highest} where ${lastPosition} < ${highest}`);
}

export function createEventRepository(
  { orm, prepare, run, transact }: RepositoryClient,
  dialect: Dialect,
): EventRepository {
  const { tables, later, lockUsers, isReturnedBy } = dialect;
  const { events, eventsState } = tables;
  const { id, position, createdAt, type, userId, changed, isActive, tokenVersion, keptJti } = events;
  const given = placeholders("after", "limit");
  const { days, epoch, lastPosition } = eventsState;
  const isWaiting = sql<boolean | number>`exists (select 1 from ${events} where ${isNull(position)})`;
  const states = prepare(
    orm.select({ days, epoch, lastPosition, isWaiting }).from(eventsState).where(isNotNull(days)),
  );
  // One statement reads all of it, so that no event is deleted in between.
  const first = sql<number | string>`(select min(${position}) from ${events} where ${isNotNull(position)})`;
  const columns = { position, type, userId, changed, isActive, tokenVersion, keptJti, createdAt, first };
  const isAfter = gt(position, given.after);
  const page = prepare(
    orm.select(columns).from(events).where(isAfter).orderBy(asc(position)).limit(given.limit),
  );
  const numbers = prepare(
    orm
      .select({ rows: sql<number | string>`count(*)`, last: sql<number | string | null>`max(id)` })
      .from(
        orm
          .select({ id })
          .from(events)
          .where(gt(id, given.after))
          .orderBy(asc(id))
          .limit(SLICE_ROWS)
          .as("slice"),
      ),
  );

  const getState = async (): Promise<EventState | null> => {
    const [state] = await states({});
    if (!state || state.days === null) return null;
    const { epoch, lastPosition, days } = state;
    return { days, epoch, lastPosition: Number(lastPosition), isNumbered: !state.isWaiting };
  };
  /** Without the check, each read would lock the state, and in the embedded database the file. */
  const number = async (): Promise<EventState | null> => {
    const state = await getState();
    if (!state || state.isNumbered) return state;
    await transact((transaction) => numberEvents(transaction, dialect));
    return getState();
  };
  const numberAll = async (): Promise<EventState | null> => {
    let state = await getState();
    await readSlices(0, async () => {
      if (state && !state.isNumbered) state = await number();
      return state && !state.isNumbered ? 0 : null;
    });
    return state;
  };

  const lastId = { last: sql<number | string>`coalesce(max(${id}), 0)` };
  const lastIds = prepare(orm.select(lastId).from(events));
  /** Deletes the events up to this one, a slice at a time. Later ones belong to whoever has turned the recording on again. */
  const deleteUntil = ([{ last } = { last: 0 }]: Awaited<ReturnType<typeof lastIds>>) =>
    readSlices(0, async () => {
      const isEnded = lte(id, Number(last));
      const slice = orm.select({ id }).from(events).where(isEnded).orderBy(asc(id)).limit(SLICE_ROWS);
      const isInSlice = sql`${id} ${isReturnedBy(slice.getSQL())}`;
      const deleted = await run(orm.delete(events).where(isInSlice).returning({ id }));
      return deleted.length === SLICE_ROWS ? 0 : null;
    });

  return {
    getState,
    read: async ({ after, limit }) => {
      const state = await number();
      if (!state) return null;
      const { epoch, lastPosition: latest } = state;
      const rows = await page({ after: after ?? 0, limit });
      const items = rows.map(({ first, changed, position, ...event }) => ({
        ...event,
        position: Number(position),
        changed: parseNames(changed),
      }));
      // The state was read first: without events, none was after the position at that time, or they were deleted.
      const oldest = Number(rows[0]?.first ?? latest + 1);
      const isExpired = after !== null && (after > latest || oldest > after + 1);
      return { items, epoch, isExpired, lastPosition: items.at(-1)?.position ?? latest };
    },
    placeNow: async () => {
      const state = await numberAll();
      return state && { epoch: state.epoch, position: state.lastPosition };
    },
    placeSince: async (seconds) => {
      const state = await getState();
      if (!state) return null;
      // The sum prevents a search in the order of positions, which would read all older events.
      const oldest = sql<number | string | null>`min(${position} + 0)`;
      const isRecent = and(isNotNull(position), gte(createdAt, later(-seconds)));
      const [found] = await prepare(orm.select({ oldest }).from(events).where(isRecent))({});
      const { epoch, lastPosition: latest } = state;
      return { epoch, position: found?.oldest == null ? latest : Number(found.oldest) - 1 };
    },
    prune: async () => {
      // Events that nobody reads get their time by the numbering, too.
      const state = await numberAll();
      if (!state) return 0;
      const isOld = sql<boolean | number>`${createdAt} < ${later(-state.days * DAY_SECONDS)}`;
      const oldest = orm.select({ position, isOld }).from(events).where(isNotNull(position));
      const slice = prepare(oldest.orderBy(asc(position)).limit(SLICE_ROWS));
      let pruned = 0;
      await readSlices(0, async () => {
        const rows = await slice({});
        const kept = rows.findIndex((row) => !row.isOld);
        const old = kept === -1 ? rows : rows.slice(0, kept);
        const last = old.at(-1)?.position;
        if (last == null) return null;
        const deleted = await run(orm.delete(events).where(lte(position, last)).returning({ id }));
        pruned += deleted.length;
        return kept === -1 && rows.length === SLICE_ROWS ? 0 : null;
      });
      return pruned;
    },
    count: async () => {
      let count = 0;
      await readSlices(0, async (after) => {
        const [slice] = await numbers({ after });
        count += Number(slice?.rows);
        return slice?.last == null ? null : Number(slice.last);
      });
      return count;
    },
    enable: async (days) => {
      // The ids come first: if the recording is off after that, all events with these ids are of before.
      const ended = await lastIds({});
      if (!(await getState())) await deleteUntil(ended);
      await transact(async (transaction) => {
        // A change that began before, and is not committed yet, would not be recorded, although its reader expects all.
        for (const statement of lockUsers) await transaction.execute(statement);
        const [state] = await transaction.select({ days: eventsState.days }).from(eventsState);
        const epoch = randomUUID();
        if (!state) await transaction.insert(eventsState).values({ id: 1, days, epoch });
        else await transaction.update(eventsState).set(state.days === null ? { days, epoch } : { days });
      });
    },
    disable: async () => {
      const ended = await transact(async (transaction) => {
        for (const statement of lockUsers) await transaction.execute(statement);
        // On PostgreSQL, the change of the state disables the triggers of users.
        await transaction.update(eventsState).set({ days: null });
        return transaction.select(lastId).from(events);
      });
      await deleteUntil(ended);
    },
  };
}

/** Returns no names if somebody stored another text. */
function parseNames(text: string): readonly string[] {
  try {
    const names: unknown = JSON.parse(text);
    return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
  } catch {
    return [];
  }
}
