/**
 * Reads any number of rows in statements that are short each: the embedded database blocks the whole service during a
 * statement, and a server has a deadline for it. Invariant: between two slices, the event loop has a turn. Awaiting the queries
 * of the embedded database gives it none, because they settle in microtasks.
 */
import { setImmediate as nextTurn } from "node:timers/promises";

/** The rows that one statement of a slice reads at most: about two milliseconds of the embedded database. */
export const SLICE_ROWS = 2_000;

/**
 * Calls `read` with the end of the previous slice, until it returns null. A slice's end is not null.
 * @param signal stops before the next slice. @throws its reason
 */
export async function readSlices<Position>(
  first: Position,
  read: (after: Position) => Promise<Position | null>,
  signal?: AbortSignal,
): Promise<void> {
  for (let position: Position | null = first; ; await nextTurn()) {
    signal?.throwIfAborted();
    position = await read(position);
    if (position === null) return;
  }
}
