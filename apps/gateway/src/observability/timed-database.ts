/** Wraps a database so that the metrics observe each call. */
import { type Database, UserAlreadyExists } from "@latchkey/database";
import type { Metrics, QueryOutcome } from "./metrics.ts";

type Call = (...args: never[]) => Promise<unknown>;
type BeginQuery = Metrics["beginQuery"];

export function timedDatabase(database: Database, { beginQuery }: Pick<Metrics, "beginQuery">): Database {
  return {
    ...database,
    users: timedRepository("users", database.users, beginQuery),
    todos: timedRepository("todos", database.todos, beginQuery),
    ping: timed("ping", database.ping, beginQuery),
  };
}

/** Names each operation `repository.method`. The cast is safe because every method keeps its signature. */
function timedRepository<Repository extends { readonly [Method in keyof Repository]: Call }>(
  name: string,
  repository: Repository,
  beginQuery: BeginQuery,
): Repository {
  const methods = Object.entries<Call>(repository);
  return Object.fromEntries(
    methods.map(([method, call]) => [method, timed(`${name}.${method}`, call, beginQuery)]),
  ) as unknown as Repository;
}

function timed<Timed extends Call>(operation: string, call: Timed, beginQuery: BeginQuery): Timed;
function timed(operation: string, call: Call, beginQuery: BeginQuery): Call {
  return async (...args) => {
    const end = beginQuery();
    const startedAt = performance.now();
    let outcome: QueryOutcome = "success";
    try {
      return await call(...args);
    } catch (error) {
      outcome = error instanceof UserAlreadyExists ? "conflict" : "failure";
      throw error;
    } finally {
      end({ operation, outcome, durationMs: performance.now() - startedAt });
    }
  };
}
