/** A database whose repository calls are timed; everything else about it is the database's own. */
import type { Database } from "@latchkey/database";
import type { Metrics } from "./metrics.ts";

export function timedDatabase(database: Database, { observeQuery }: Pick<Metrics, "observeQuery">): Database {
  return {
    ...database,
    users: timed("users", database.users, observeQuery),
    todos: timed("todos", database.todos, observeQuery),
  };
}

type Call = (...args: never[]) => Promise<unknown>;

/** The operation's name is the repository's and the method's: as many as there are methods. */
function timed<Repository extends { readonly [Method in keyof Repository]: Call }>(
  name: string,
  repository: Repository,
  observe: Metrics["observeQuery"],
): Repository {
  const methods = Object.entries<Call>(repository).map(([method, call]) => {
    const operation = `${name}.${method}`;
    const timedCall = async (...args: never[]): Promise<unknown> => {
      const started = performance.now();
      let succeeded = false;
      try {
        const result = await call.apply(repository, args);
        succeeded = true;
        return result;
      } finally {
        observe({ operation, succeeded, seconds: (performance.now() - started) / 1000 });
      }
    };
    return [method, timedCall];
  });
  return Object.fromEntries(methods);
}
