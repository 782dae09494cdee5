/** Wraps a database so that the metrics observe each call. Invariant: every repository is wrapped, also one that is added later. */
import type { Database } from "@latchkey/database";
import type { Metrics } from "./metrics.ts";

type Call = (...args: never[]) => Promise<unknown>;

export function timedDatabase(database: Database, { timeQuery }: Pick<Metrics, "timeQuery">): Database {
  const timed =
    (operation: string, call: Call): Call =>
    (...args) =>
      timeQuery(operation, () => call(...args));
  /** The name of an operation is that of the repository and of the method. */
  const timedRepository = (name: string, calls: Readonly<Record<string, Call>>) =>
    Object.fromEntries(
      Object.entries(calls).map(([method, call]) => [method, timed(`${name}.${method}`, call)]),
    );
  const repositories = Object.entries(database).flatMap(([name, member]) =>
    typeof member === "object" ? [[name, timedRepository(name, member)]] : [],
  );
  return { ...database, ...Object.fromEntries(repositories), ping: timed("ping", database.ping) };
}
