/**
 * What queueing theory says of a service under Poisson arrivals, in closed form. With processor sharing the number of
 * logins in it has p(n) ∝ λⁿ / (μ(1)···μ(n)), whatever the distribution of their work (Cohen 1979, "The multiple phase
 * service network with generalized processor sharing"); what exceeds the lanes waits at a constant rate.
 */
import { capacityPerSecond, type ServiceModel } from "./service-model.ts";

export interface Stationary {
  /** p(n) for n = 0 up to all lanes and the whole queue; their sum is 1. */
  readonly probabilities: readonly number[];
  /** λ / μ with every lane busy; from 1 on the queue fills and logins are shed. */
  readonly utilisation: number;
  /** Of the logins that are not shed: E[n] / λ', Little's law. */
  readonly meanLatencyMs: number;
  /** That an arrival finds the queue full: Poisson arrivals see time averages (Wolff 1982). */
  readonly shedProbability: number;
}

/** @param ratePerSecond above 0 */
export function stationary(service: ServiceModel, ratePerSecond: number): Stationary {
  const probabilities = distribution(service, ratePerSecond);
  const meanInside = probabilities.reduce((sum, probability, inside) => sum + inside * probability, 0);
  const shedProbability = probabilities.at(-1) ?? 0;
  return {
    probabilities,
    utilisation: ratePerSecond / capacityPerSecond(service),
    meanLatencyMs: (1000 * meanInside) / (ratePerSecond * (1 - shedProbability)),
    shedProbability,
  };
}

/** In logarithms, since the products leave the range of a double with a few hundred lanes. */
function distribution(service: ServiceModel, ratePerSecond: number): number[] {
  const most = service.workers * service.laneMs.length + service.queueLimit;
  const logarithms = [0];
  for (let inside = 1; inside <= most; inside++) {
    logarithms.push((logarithms.at(-1) ?? 0) + Math.log(ratePerSecond / serviceRate(service, inside)));
  }
  const largest = logarithms.reduce((a, b) => Math.max(a, b));
  const weights = logarithms.map((logarithm) => Math.exp(logarithm - largest));
  const total = weights.reduce((a, b) => a + b);
  return weights.map((weight) => weight / total);
}

/** μ(n): each arrival goes to the worker that holds the fewest, so n logins lie as evenly over the workers as they can. */
export function serviceRate({ workers, laneMs }: ServiceModel, inside: number): number {
  const running = Math.min(inside, workers * laneMs.length);
  const lanes = Math.floor(running / workers);
  const fuller = running % workers;
  const workerRate = (busy: number) =>
    busy === 0 ? 0 : (1000 * busy) / (laneMs[busy - 1] ?? Number.POSITIVE_INFINITY);
  return (workers - fuller) * workerRate(lanes) + fuller * workerRate(lanes + 1);
}
