/**
 * Calculates replicas from a load and a latency bound. One replica is simulated with its part of the arrivals: a balancer
 * that picks at random splits a Poisson stream into Poisson streams; round robin and least connections are more even.
 */
import { usageError } from "@latchkey/cli";
import { stationary } from "./queueing-theory.ts";
import { type RepeatedResult, repeatSimulation } from "./repeated-simulation.ts";
import { capacityPerSecond, type ServiceModel } from "./service-model.ts";
import { type Stores, type StoresOptions, storesOf } from "./stores.ts";

const REPETITIONS = 10;
const WARM_UP_SECONDS = 2;
/** Of these logins a hundred are above the 99th percentile, at any rate. */
const MEASURED_LOGINS = 10_000;
const MIN_SECONDS = 10;
/** Bisection steps of the capacity: resolves the highest rate to less than 1 %. */
const BISECTIONS = 7;

export interface PlanOptions extends Omit<StoresOptions, "replicas"> {
  /** Bound on the 99th percentile of the latency of logins. */
  readonly p99Ms: number;
  /** Unused percentage of the highest rate within the bound, 0 to 90. */
  readonly headroomPercent: number;
}

export interface Plan {
  readonly asked: PlanOptions;
  /** Including one spare: the other replicas handle the load. */
  readonly replicas: number;
  readonly cores: number;
  readonly replica: {
    readonly cores: number;
    /** With all lanes busy, at any latency. */
    readonly capacityPerSecond: number;
    /** The highest rate at which every repetition was within the bound. */
    readonly highestPerSecond: number;
    /** While one replica is missing. */
    readonly perSecond: number;
  };
  /** Of one replica while another is missing. */
  readonly prediction: {
    readonly utilisation: number;
    readonly meanByFormulaMs: number;
    readonly shedProbability: number;
    readonly simulated: RepeatedResult;
  };
  readonly stores: Stores;
}

/**
 * @param service one replica
 * @throws {CliError} with exit code 64 if no number of replicas meets the bound
 */
export function createPlan(asked: PlanOptions, service: ServiceModel): Plan {
  const highestPerSecond = highestRate(asked, service);
  const usable = highestPerSecond * (1 - asked.headroomPercent / 100);
  const active = Math.ceil(asked.loginsPerSecond / usable);
  const replicas = active + 1;
  const perSecond = asked.loginsPerSecond / active;
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

function simulateRate(service: ServiceModel, ratePerSecond: number): RepeatedResult {
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
