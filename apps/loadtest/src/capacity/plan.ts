/** Calculates the replicas, connections and queries for a load of logins from a measured capacity. */
import { describeError, usageError } from "@latchkey/cli";
import Type, { type Static } from "typebox";
import { Check } from "typebox/value";

/** The members of a `CapacityReport` that a plan needs. */
const CapacityFile = Type.Object({
  version: Type.Literal(1),
  startedAt: Type.String(),
  machine: Type.String(),
  p99BoundMs: Type.Number(),
  loginsPerSecond: Type.Number({ exclusiveMinimum: 0 }),
});
export type Capacity = Static<typeof CapacityFile>;

/** A login reads the user before and after hashing. It stores the network at most once a day. */
export const QUERIES_PER_LOGIN = 2;
/**
 * One Redis script for the default quota, one for that of logins, and one that ends the count of wrong current passwords. An
 * unfamiliar network needs one more for the e-mail.
 */
const SCRIPTS_PER_LOGIN = 3;
/** Upper bound of the resident memory of an idle replica. Password hashing adds only a few kilobytes. */
const REPLICA_MEGABYTES = 150;
/** The connections that a starting replica opens in addition to the pool. */
const ADDITIONAL_CONNECTIONS = 2;

/** @throws {CliError} with exit code 64 */
export async function readCapacity(path: string): Promise<Capacity> {
  const report: unknown = await Bun.file(path)
    .json()
    .catch((error) => {
      const reason = error instanceof SyntaxError ? "it is not JSON" : describeError(error);
      throw usageError(`${path} cannot be read: ${reason}.`);
    });
  if (Check(CapacityFile, report)) return report;
  throw usageError(`${path} is not a report of --find-capacity in which a rate passed.`);
}

type PlanOptions = Readonly<Record<"loginsPerSecond" | "headroomPercent" | "poolSize", number>>;

export type Plan = ReturnType<typeof createPlan>;

/**
 * @param asked a load above 0, and for each replica the unused percentage of its capacity (0 to 90) and its pool size
 * @param capacity of one replica
 */
export function createPlan(asked: PlanOptions, capacity: Capacity) {
  const { loginsPerSecond, headroomPercent, poolSize } = asked;
  const active = Math.ceil(loginsPerSecond / (capacity.loginsPerSecond * (1 - headroomPercent / 100)));
  const replicas = active + 1;
  return {
    asked,
    measured: capacity,
    /** The number of replicas, including one spare. */
    replicas,
    /** Logins per second of each replica while the spare is missing. */
    loginsPerReplica: loginsPerSecond / active,
    memoryMegabytes: replicas * REPLICA_MEGABYTES,
    queriesPerSecond: QUERIES_PER_LOGIN * loginsPerSecond,
    /** Redis scripts per second, if the replicas share rate limits. */
    scriptsPerSecond: SCRIPTS_PER_LOGIN * loginsPerSecond,
    connections: replicas * poolSize,
    /** After PostgreSQL hangs, each replica opens a new pool while the connections of the old one stay open for seconds. */
    connectionsAtMost: replicas * (2 * poolSize + ADDITIONAL_CONNECTIONS),
  };
}
