/** Wraps a database so that the metrics observe each call. Invariant: a new repository cannot be forgotten, as `Wrapped` lists all. */
import type { Database } from "@latchkey/database";
import type { Metrics } from "./metrics.ts";

/** All but what opens, migrates and closes the database. */
type Wrapped = Omit<Database, "kind" | "migrate" | "checkIds" | "close" | typeof Symbol.asyncDispose>;
type Call = (...args: never[]) => Promise<unknown>;

export function timedDatabase(database: Database, { timeQuery }: Pick<Metrics, "timeQuery">): Database {
  /** The name of an operation is `prefix` and the name of the method. The cast is safe: every method keeps its signature. */
  const timed = <Calls extends { readonly [Method in keyof Calls]: Call }>(prefix: string, calls: Calls) =>
    Object.fromEntries(
      Object.entries<Call>(calls).map(([method, call]) => {
        const operation = `${prefix}${method}`;
        return [method, (...args: never[]) => timeQuery(operation, () => call(...args))];
      }),
    ) as unknown as Calls;
  const wrapped: Wrapped = {
    users: timed("users.", database.users),
    passkeys: timed("passkeys.", database.passkeys),
    identities: timed("identities.", database.identities),
    factors: timed("factors.", database.factors),
    todos: timed("todos.", database.todos),
    outbox: timed("outbox.", database.outbox),
    digests: timed("digests.", database.digests),
    events: timed("events.", database.events),
    ...timed("", { ping: database.ping }),
  };
  return { ...database, ...wrapped };
}
