/**
 * Counts the waiting mails in slices of the index of their times. Mails with the same time, as of one statement, can be more than
 * a slice: they are counted in the order of ids. Mails of kinds that only a later release can send are read, but not counted.
 */
import { MAIL_KINDS } from "@latchkey/contracts";
import { and, asc, eq, gt, inArray, lt, lte, type SQL, sql } from "drizzle-orm";
import type { Dialect } from "../dialect.ts";
import { EPOCH, type Timestamp } from "../timestamp.ts";
import { placeholders, type RepositoryClient } from "./repository-client.ts";
import { readSlices, SLICE_ROWS } from "./slices.ts";

/** All mails before `time` are counted. `id` is null if those of this time are, too; otherwise those up to `id` are. */
interface Position {
  readonly time: Timestamp;
  readonly id: number | null;
}

export function createOutboxCount(
  { orm, prepare }: RepositoryClient,
  { tables: { outbox } }: Dialect,
): () => Promise<number> {
  const given = placeholders("time", "id", "until");
  const { id, nextAttemptAt } = outbox;
  // The raw value: a damaged one would be read as another time, so that the count would not end.
  const time = sql<Timestamp>`${nextAttemptAt}`;
  const isLater = gt(nextAttemptAt, given.time);
  const isSame = and(eq(nextAttemptAt, given.time), gt(id, given.id));
  const isKnown = inArray(outbox.kind, [...MAIL_KINDS]);
  const count = (where: SQL | undefined) =>
    prepare(orm.select({ rows: sql<number | string>`count(*)` }).from(outbox).where(and(where, isKnown)));
  const [countLater, countSame] = [count(isLater), count(isSame)];
  const countBetween = count(and(isLater, lt(nextAttemptAt, given.until)));
  const countSameUntil = count(and(isSame, lte(id, given.until)));
  const times = orm.select({ time }).from(outbox).where(isLater).orderBy(asc(nextAttemptAt));
  const endOfLater = prepare(times.limit(1).offset(SLICE_ROWS - 1));
  const ids = orm.select({ id }).from(outbox).where(isSame).orderBy(asc(id));
  const endOfSame = prepare(ids.limit(1).offset(SLICE_ROWS - 1));

  return async () => {
    let waiting = 0;
    const add = ([counted]: readonly { readonly rows: number | string }[]) => {
      waiting += Number(counted?.rows);
    };
    await readSlices<Position>({ time: EPOCH, id: null }, async (after) => {
      const { time } = after;
      if (after.id === null) {
        const [end] = await endOfLater({ time });
        add(await (end ? countBetween({ time, until: end.time }) : countLater({ time })));
        return end ? { time: end.time, id: 0 } : null;
      }
      const [end] = await endOfSame({ time, id: after.id });
      add(
        await (end
          ? countSameUntil({ time, id: after.id, until: end.id })
          : countSame({ time, id: after.id })),
      );
      return { time, id: end?.id ?? null };
    });
    return waiting;
  };
}
