/**
 * Closed formulas for a service under Poisson arrivals that shares its speed among all logins. Their number has
 * p(n) ∝ λⁿ / (μ(1)···μ(n)) for any distribution of their cost (Cohen 1979, "The multiple phase service network with
 * generalized processor sharing"); logins beyond all lanes wait while the rate stays constant. The mean latency is an upper
 * bound for the service, which finishes the oldest logins first.
 */
import { capacityPerSecond, type ServiceModel } from "./service-model.ts";

/** @param ratePerSecond above 0 */
export function stationary(service: ServiceModel, ratePerSecond: number) {
  const probabilities = distribution(service, ratePerSecond);
  const mean = probabilities.reduce((sum, probability, logins) => sum + logins * probability, 0);
  /** Probability that an arrival finds the queue full: Poisson arrivals see time averages (Wolff 1982). */
  const shedProbability = probabilities.at(-1) ?? 0;
  return {
    /** p(n) for n from 0 to all lanes and the whole queue; their sum is 1. */
    probabilities,
    /** λ / μ with all lanes busy; from 1 on the queue fills and logins are rejected. */
    utilisation: ratePerSecond / capacityPerSecond(service),
    /** Of the logins that are not rejected: E[n] / λ', Little's law. */
    meanLatencyMs: (1000 * mean) / (ratePerSecond * (1 - shedProbability)),
    shedProbability,
  };
}

/** Uses logarithms: the products exceed the range of a double from a few hundred lanes on. */
function distribution(service: ServiceModel, ratePerSecond: number): number[] {
  const most = service.workers * service.laneMs.length + service.queueLimit;
  const logarithms = [0];
  for (let logins = 1; logins <= most; logins++) {
    logarithms.push((logarithms.at(-1) ?? 0) + Math.log(ratePerSecond / serviceRate(service, logins)));
  }
  const largest = logarithms.reduce((a, b) => Math.max(a, b));
  const weights = logarithms.map((logarithm) => Math.exp(logarithm - largest));
  const total = weights.reduce((a, b) => a + b);
  return weights.map((weight) => weight / total);
}

/** μ(n): each arrival goes to the worker with the fewest logins, so n logins are distributed evenly over the workers. */
export function serviceRate({ workers, laneMs }: ServiceModel, logins: number): number {
  const running = Math.min(logins, workers * laneMs.length);
  const lanes = Math.floor(running / workers);
  const fuller = running % workers;
  const workerRate = (busy: number) =>
    busy === 0 ? 0 : (1000 * busy) / (laneMs[busy - 1] ?? Number.POSITIVE_INFINITY);
  return (workers - fuller) * workerRate(lanes) + fuller * workerRate(lanes + 1);
}
