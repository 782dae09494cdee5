/** Wraps a database so that the metrics observe each call. */
import type { Database } from "@latchkey/database";
import type { Metrics } from "./metrics.ts";

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
  const { users, passkeys, todos, outbox, ping } = database;
  return {
    ...database,
    users: timed("users.", users),
    passkeys: timed("passkeys.", passkeys),
    todos: timed("todos.", todos),
    outbox: timed("outbox.", outbox),
    ...timed("", { ping }),
  };
}
