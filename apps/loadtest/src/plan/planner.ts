/**
 * From a load and a bound on its latency to replicas. One replica is simulated with its share of the arrivals: a balancer
 * that picks at random splits a Poisson stream into Poisson streams, and one that takes turns or asks who has the fewest
 * connections is gentler than that.
 */
import { EXIT, LoadtestError } from "../errors.ts";
import { stationary } from "./queueing-theory.ts";
import { type Repeated, repeat } from "./repeated-simulation.ts";
import { capacityPerSecond, type ServiceModel } from "./service-model.ts";
import { type Stores, storesOf } from "./stores.ts";

const REPETITIONS = 10;
const WARM_UP_SECONDS = 2;
/** So many logins leave a hundred beyond the 99th percentile, at any rate. */
const LOGINS_COUNTED = 10_000;
const MIN_SECONDS = 10;
/** Halvings of the capacity until the highest rate is known: to less than 1 %. */
const HALVINGS = 7;

export interface PlanAsked {
  /** Above 0. */
  readonly loginsPerSecond: number;
  /** Bound on the 99th percentile of a login's latency. */
  readonly p99Ms: number;
  /** Of the highest rate that holds the bound, how much is left free; 0 to 90. */
  readonly headroomPercent: number;
  /** Connections to PostgreSQL that each replica holds. */
  readonly poolSize: number;
  /** PostgreSQL's `max_connections`. */
  readonly maxConnections: number;
}

export interface Plan {
  readonly asked: PlanAsked;
  /** One of them is to spare: the others carry the load. */
  readonly replicas: number;
  readonly cores: number;
  readonly replica: {
    readonly cores: number;
    /** All lanes busy, whatever the latency. */
    readonly capacityPerSecond: number;
    /** The highest rate at which every repetition held the bound. */
    readonly highestPerSecond: number;
    /** While one replica is missing. */
    readonly perSecond: number;
  };
  /** Of one replica while another is missing. */
  readonly prediction: {
    readonly utilisation: number;
    readonly meanByFormulaMs: number;
    readonly shedProbability: number;
    readonly simulated: Repeated;
  };
  readonly stores: Stores;
}

/**
 * @param service one replica
 * @throws {LoadtestError} with exit code 64 if no number of replicas holds the bound
 */
export function createPlan(asked: PlanAsked, service: ServiceModel): Plan {
  const highestPerSecond = highestRate(asked, service);
  const usable = highestPerSecond * (1 - asked.headroomPercent / 100);
  const carrying = Math.ceil(asked.loginsPerSecond / usable);
  const replicas = carrying + 1;
  const perSecond = asked.loginsPerSecond / carrying;
  const { utilisation, meanLatencyMs, shedProbability } = stationary(service, perSecond);
  return {
    asked,
    replicas,
    cores: replicas * service.workers,
    replica: {
      cores: service.workers,
      capacityPerSecond: capacityPerSecond(service),
      highestPerSecond,
      perSecond,
    },
    prediction: {
      utilisation,
      meanByFormulaMs: meanLatencyMs,
      shedProbability,
      simulated: simulateRate(service, perSecond),
    },
    stores: storesOf({ ...asked, replicas }),
  };
}

function simulateRate(service: ServiceModel, ratePerSecond: number): Repeated {
  return repeat({
    service,
    ratePerSecond,
    durationSeconds: Math.max(MIN_SECONDS, LOGINS_COUNTED / ratePerSecond),
    warmUpSeconds: WARM_UP_SECONDS,
    repetitions: REPETITIONS,
  });
}

/** Bisection between nothing and the capacity, shedding none: the same seeds make the percentile grow with the rate. */
function highestRate({ p99Ms }: PlanAsked, service: ServiceModel): number {
  const capacity = capacityPerSecond(service);
  const p99At = (rate: number) => {
    const { shed, p99 } = simulateRate(service, rate);
    return shed.high > 0 ? Number.POSITIVE_INFINITY : p99.high;
  };
  let low = 0;
  let high = capacity;
  for (let halving = 0; halving < HALVINGS; halving++) {
    const rate = (low + high) / 2;
    if (p99At(rate) <= p99Ms) low = rate;
    else high = rate;
  }
  if (low > 0) return low;
  const idle = Math.ceil(p99At(high));
  throw new LoadtestError(
    `Even a replica with almost nothing to do answers 99 % of its logins only within ${idle} ms, so no number of ` +
      `them holds ${p99Ms} ms.`,
    EXIT.usage,
  );
}
