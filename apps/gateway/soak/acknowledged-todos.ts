/** What the service has acknowledged, held against what it has in the end. A write that failed may be there or not. */

export interface Held {
  readonly title: string;
  readonly completed: boolean;
}

export interface Ledger {
  /** The service said that the todo is this. */
  acknowledge(id: number, todo: Held): void;
  /** The service said that the todo is gone. */
  acknowledgeRemoval(id: number): void;
  /** A write of this todo failed: from now on nothing is known of it. */
  doubt(id: number): void;
  /** A todo to write to that no other write is under way for; the caller gives it back by one of the above. */
  borrow(): number | undefined;
  readonly acknowledged: number;
  /** What is acknowledged and not so, a sentence each; `present` is everything that the service has. */
  losses(present: ReadonlyMap<number, Held>): string[];
}

export function createLedger(): Ledger {
  const known = new Map<number, Held>();
  const removed = new Set<number>();
  const borrowed = new Map<number, Held>();
  let acknowledged = 0;
  return {
    acknowledge(id, todo) {
      acknowledged += 1;
      borrowed.delete(id);
      known.set(id, todo);
    },
    acknowledgeRemoval(id) {
      acknowledged += 1;
      borrowed.delete(id);
      removed.add(id);
    },
    doubt: (id) => void borrowed.delete(id),
    borrow() {
      const [first] = known;
      if (first === undefined) return undefined;
      known.delete(first[0]);
      borrowed.set(...first);
      return first[0];
    },
    get acknowledged() {
      return acknowledged;
    },
    losses(present) {
      const lost = [...known].flatMap(([id, todo]) => {
        const there = present.get(id);
        if (!there) return [`todo ${id} is gone`];
        const isSame = there.title === todo.title && there.completed === todo.completed;
        return isSame ? [] : [`todo ${id} is not what it was said to be`];
      });
      const back = [...removed].filter((id) => present.has(id)).map((id) => `todo ${id} is back`);
      return [...lost, ...back];
    },
  };
}
