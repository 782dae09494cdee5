/**
 * BudgetStore in this process, of fixed size. Each key has two cells, which other keys share, and is limited only if
 * neither has an attempt left (a count-min sketch with conservative update: Estan and Varghese, 2002). Nothing is dropped, so
 * other keys never give back an attempt. They can take some: while 100,000 budgets are empty, 1 % of the others are, too.
 */
import { hash } from "node:crypto";
import type { Budget } from "./store.ts";

interface MemoryBudgetStoreOptions extends Omit<Budget, "name"> {
  /** Milliseconds since the epoch. @default Date.now */
  readonly now?: () => number;
}

/** Of all budgets of one kind, here and in Redis. */
export const BUDGET_CELLS = 2 ** 21;

/** The two cells of a key, of so many. */
export function cellsOf(key: string, cells: number): readonly [number, number] {
  const bytes = hash("sha256", key, "buffer");
  return [bytes.readUInt32BE(0) % cells, bytes.readUInt32BE(4) % cells];
}

export function createMemoryBudgetStore({ attempts, refillMs, now = Date.now }: MemoryBudgetStoreOptions) {
  /** The time at which each cell is full again; each attempt moves it by `refillMs`. */
  const fullAt = new Float64Array(BUDGET_CELLS);
  const timeOf = (cell: number): number => fullAt[cell] ?? 0;

  return {
    take(key: string): number {
      const cells = cellsOf(key, BUDGET_CELLS);
      const time = now();
      const nextFullAt = Math.max(Math.min(...cells.map(timeOf)), time) + refillMs;
      const waitMs = nextFullAt - time - attempts * refillMs;
      if (waitMs > 0) return waitMs;
      for (const cell of cells) fullAt[cell] = Math.max(timeOf(cell), nextFullAt);
      return 0;
    },
  };
}
