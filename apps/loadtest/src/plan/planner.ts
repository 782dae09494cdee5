/**
 * Calculates replicas from a load and a latency bound. One replica is simulated with its part of the arrivals: a balancer
 * that picks at random splits a Poisson stream into Poisson streams; round robin and least connections are more even.
 */
import { usageError } from "@latchkey/cli";
import { stationary } from "./queueing-theory.ts";
import { capacityPerSecond, type ServiceModel } from "./service-model.ts";
import { repeatSimulation } from "./simulation.ts";

const REPETITIONS = 10;
const WARM_UP_SECONDS = 2;
/** Of these logins a hundred are above the 99th percentile, at any rate. */
const MEASURED_LOGINS = 10_000;
const MIN_SECONDS = 10;
/** Bisection steps of the capacity: resolves the highest rate to less than 1 %. */
const BISECTIONS = 7;

/** A login reads its user by e-mail before and after the derivation. It stores its network at most once a day. */
export const QUERIES_PER_LOGIN = 2;
/** One script for the default quota and one for the quota of logins; an unfamiliar network adds one for the e-mail. */
export const SCRIPTS_PER_LOGIN = 2;
/** A starting replica opens one more connection for its migrations. */
const CONNECTIONS_AT_START = 1;
/** After a server hang, the connections of the replaced pool stay open for some seconds beside those of the new pool. */
const CONCURRENT_POOLS = 2;
/** Upper bound of the resident memory of an idle replica; lanes add a few kilobytes. */
const REPLICA_MEGABYTES = 150;

export interface PlanOptions {
  /** Above 0. */
  readonly loginsPerSecond: number;
  /** Bound on the 99th percentile of the latency of logins. */
  readonly p99Ms: number;
  /** Unused percentage of the highest rate within the bound, 0 to 90. */
  readonly headroomPercent: number;
  /** PostgreSQL connections of each replica. */
  readonly poolSize: number;
  /** `max_connections` of PostgreSQL. */
  readonly maxConnections: number;
}

export type Plan = ReturnType<typeof createPlan>;

/**
 * @param service one replica
 * @throws {CliError} with exit code 64 if no number of replicas meets the bound
 */
export function createPlan(asked: PlanOptions, service: ServiceModel) {
  const highestPerSecond = highestRate(asked, service);
  const usable = highestPerSecond * (1 - asked.headroomPercent / 100);
  const active = Math.ceil(asked.loginsPerSecond / usable);
  const replicas = active + 1;
  const perSecond = asked.loginsPerSecond / active;
  const { utilisation, meanLatencyMs, shedProbability } = stationary(service, perSecond);
  return {
    asked,
    /** Including one spare: the other replicas handle the load. */
    replicas,
    cores: replicas * service.workers,
    replica: {
      cores: service.workers,
      /** With all lanes busy, at any latency. */
      capacityPerSecond: capacityPerSecond(service),
      /** The highest rate at which every repetition was within the bound. */
      highestPerSecond,
      /** While one replica is missing. */
      perSecond,
    },
    /** Of one replica while another is missing. */
    prediction: {
      utilisation,
      meanByFormulaMs: meanLatencyMs,
      shedProbability,
      simulated: simulateRate(service, perSecond),
    },
    stores: storesOf(asked, replicas),
  };
}

function simulateRate(service: ServiceModel, ratePerSecond: number) {
  const durationSeconds = Math.max(MIN_SECONDS, MEASURED_LOGINS / ratePerSecond);
  return repeatSimulation(
    { service, ratePerSecond, durationSeconds, warmUpSeconds: WARM_UP_SECONDS },
    REPETITIONS,
  );
}

/** Bisection between 0 and the capacity, without rejections: with equal seeds the percentile increases with the rate. */
function highestRate({ p99Ms }: PlanOptions, service: ServiceModel): number {
  const p99At = (rate: number) => {
    const { shed, p99 } = simulateRate(service, rate);
    return shed.high > 0 ? Number.POSITIVE_INFINITY : p99.high;
  };
  let low = 0;
  let high = capacityPerSecond(service);
  for (let step = 0; step < BISECTIONS; step++) {
    const rate = (low + high) / 2;
    if (p99At(rate) <= p99Ms) low = rate;
    else high = rate;
  }
  if (low > 0) return low;
  throw usageError(
    `No number of replicas has a p99 of ${p99Ms} ms: an almost idle replica has ${Math.ceil(p99At(high))} ms.`,
  );
}

/** The load on PostgreSQL, Redis and memory. Every factor is taken from the service's code or from a measurement. */
export function storesOf({ loginsPerSecond, poolSize, maxConnections }: PlanOptions, replicas: number) {
  const connectionsAtMost = replicas * Math.max(CONCURRENT_POOLS * poolSize, poolSize + CONNECTIONS_AT_START);
  return {
    postgres: {
      queriesPerSecond: QUERIES_PER_LOGIN * loginsPerSecond,
      /** In normal operation. */
      connections: replicas * poolSize,
      /** While all replicas start or replace their pools; `max_connections` must allow them. */
      connectionsAtMost,
      maxConnections,
      /** Whether the server must allow more connections, or a pooler is required. */
      isTooMany: connectionsAtMost >= maxConnections,
    },
    /** If the replicas share their rate limits. */
    redis: { scriptsPerSecond: SCRIPTS_PER_LOGIN * loginsPerSecond },
    memoryMegabytes: replicas * REPLICA_MEGABYTES,
  };
}
