/** A database whose calls are timed; everything else about it is the database's own. */
import { type Database, UserAlreadyExists } from "@latchkey/database";
import type { Metrics, QueryOutcome } from "./metrics.ts";

type Call = (...args: never[]) => Promise<unknown>;
type Observe = Metrics["beginQuery"];

export function timedDatabase(database: Database, { beginQuery }: Pick<Metrics, "beginQuery">): Database {
  return {
    ...database,
    users: timedRepository("users", database.users, beginQuery),
    todos: timedRepository("todos", database.todos, beginQuery),
    ping: timed("ping", database.ping, beginQuery),
  };
}

/** An operation's name is the repository's and the method's. The cast holds since every method keeps its signature. */
function timedRepository<Repository extends { readonly [Method in keyof Repository]: Call }>(
  name: string,
  repository: Repository,
  begin: Observe,
): Repository {
  const methods = Object.entries<Call>(repository);
  return Object.fromEntries(
    methods.map(([method, call]) => [method, timed(`${name}.${method}`, call, begin)]),
  ) as unknown as Repository;
}

function timed<Timed extends Call>(operation: string, call: Timed, begin: Observe): Timed;
function timed(operation: string, call: Call, begin: Observe): Call {
  return async (...args) => {
    const end = begin();
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
