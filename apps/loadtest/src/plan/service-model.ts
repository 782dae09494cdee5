/**
 * Models the service as one queueing station whose speed depends on the number of logins in it: a flow-equivalent center
 * (Chandy, Herzog and Woo 1975, "Parametric analysis of queuing networks"), derived from a closed-loop measurement.
 */
import { chooseVariant } from "@latchkey/hashing";
import type { CurvePoint } from "../capacity/service-curve.ts";

/** Slice of a worker in the hashing core: a login enters a lane after a slice, after half of it on average. */
const SLICE_MS = 6;
/** The default queue limit of the service: the logins of this time at full capacity, and at least the minimum. */
const QUEUE_SECONDS = 5;
const MIN_QUEUE_LIMIT = 64;

/** Valid for any arrivals below the capacity. `laneMs` includes HTTP and the database. */
export interface ServiceModel {
  /** Hash workers, each with its own core. At least 1. */
  readonly workers: number;
  /** Duration of a login while k lanes of its worker are busy: `laneMs[k - 1]`. One element per lane, at least 1. */
  readonly laneMs: readonly number[];
  /** Lanes that advance together while k lanes are busy, the others waiting: `groups[k - 1]`, 1 to k. */
  readonly groups: readonly number[];
  /** Free lanes are filled between slices of this duration; 0: immediately, exact processor sharing. */
  readonly sliceMs: number;
  /** Maximum number of logins waiting for a lane; more are rejected. */
  readonly queueLimit: number;
}

type Curve = readonly Pick<CurvePoint, "concurrency" | "perSecond">[];

export interface MeasuredService {
  /** At least one point, ascending by concurrency. */
  readonly curve: Curve;
  /** Logins per second in overload. @default none */
  readonly overloaded?: readonly number[];
  readonly workers: number;
  /** Lanes of one worker. */
  readonly lanes: number;
}

/**
 * c·k clients of a closed loop keep k lanes of each of c workers busy; by Little's law a login then takes c·k / X(c·k). For
 * all lanes busy an overloaded open loop is more accurate: the clients of a closed loop synchronize the lanes, while lanes
 * that finish one by one shorten slices, which costs a few percent.
 */
export function createServiceModel(measured: MeasuredService): ServiceModel {
  const { curve, overloaded = [], workers, lanes } = measured;
  const allLanes = workers * lanes;
  const waiting = curve.filter(({ concurrency }) => concurrency > allLanes).map(({ perSecond }) => perSecond);
  const fullRate = meanOf(overloaded) ?? meanOf(waiting) ?? rateOf(curve, allLanes);
  const laneMs = Array.from({ length: lanes }, (_, index) => {
    const clients = workers * (index + 1);
    return (1000 * clients) / (clients === allLanes ? fullRate : rateOf(curve, clients));
  });
  const groups = groupsOf(laneMs);
  return withWorkers({ workers, laneMs, groups, sliceMs: SLICE_MS, queueLimit: 0 }, workers);
}

/** As the hashing core chooses them: it advances fewer lanes, the oldest logins, where these have about the same rate. */
export function groupsOf(laneMs: readonly number[]): number[] {
  const variants = laneMs.map((ms, index) => ({ width: index + 1, seconds: ms / 1000 }));
  return variants.map(({ width }) => Math.min(width, chooseVariant(variants, width).width));
}

const meanOf = (rates: readonly number[]): number | null =>
  rates.length === 0 ? null : rates.reduce((sum, rate) => sum + rate, 0) / rates.length;

/** The same service with another number of cores: workers share nothing, so each has the same speed. */
export function withWorkers(service: ServiceModel, workers: number): ServiceModel {
  const scaled = { ...service, workers };
  const queueLimit = Math.max(MIN_QUEUE_LIMIT, Math.ceil(QUEUE_SECONDS * capacityPerSecond(scaled)));
  return { ...scaled, queueLimit };
}

/** Logins per second with all lanes busy: the upper bound of any sustained load. */
export function capacityPerSecond({ workers, laneMs }: ServiceModel): number {
  return (1000 * workers * laneMs.length) / (laneMs.at(-1) ?? Number.POSITIVE_INFINITY);
}

/** X(n) of the curve. The response time n / X(n) is interpolated linearly; after the last point the rate is constant. */
function rateOf(curve: Curve, clients: number): number {
  const above = curve.findIndex(({ concurrency }) => concurrency >= clients);
  const right = curve[above] ?? curve.at(-1);
  const left = curve[above - 1] ?? right;
  if (!left || !right) return 0;
  if (above === -1) return right.perSecond;
  const span = right.concurrency - left.concurrency;
  const position = span === 0 ? 0 : (clients - left.concurrency) / span;
  const [from, to] = [left.concurrency / left.perSecond, right.concurrency / right.perSecond];
  return clients / (from + position * (to - from));
}
