/**
 * The attempts with one state wait for each other here, before they take a connection to the database. There, each would wait for
 * the others with a connection of its own, so whoever sends many would keep the requests of all others waiting.
 */

/** The attempts with a state that have not ended yet. */
interface Line {
  length: number;
  /** Resolves when the last of them has ended. */
  end: Promise<unknown>;
}

/** Runs the attempts with one state in turn. Returns null without running it if `capacity` attempts have not ended yet. */
export type AttemptInTurn = <Result>(state: string, attempt: () => Promise<Result>) => Promise<Result | null>;

export function createAttemptLines(capacity: number): AttemptInTurn {
  const lines = new Map<string, Line>();

  return async (state, attempt) => {
    const line = lines.get(state) ?? { length: 0, end: Promise.resolve() };
    if (line.length === capacity) return null;
    line.length += 1;
    lines.set(state, line);
    const turn = line.end.then(attempt);
    line.end = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      line.length -= 1;
      if (line.length === 0) lines.delete(state);
    }
  };
}
