/**
 * The whole service as one queueing station whose speed depends on how many logins are in it: a flow-equivalent centre
 * (Chandy, Herzog and Woo 1975, "Parametric analysis of queuing networks"), fed with what a closed loop measured.
 */

/** A worker's slice in the hashing core: a login enters a lane when one ends, after half of it on average. */
const SLICE_MS = 6;
/** The service's own default: as many may wait as it answers in so many seconds, and never fewer than these. */
const QUEUE_SECONDS = 5;
const MIN_QUEUE_LIMIT = 64;

/** Nothing in it is a mean over mixed loads: it holds for any arrivals. HTTP and the database are inside `laneMs`. */
export interface ServiceModel {
  /** Hash workers, each on a core of its own. At least 1. */
  readonly workers: number;
  /** A login takes `laneMs[k - 1]` while k lanes of its worker are busy. As long as a worker has lanes, at least 1. */
  readonly laneMs: readonly number[];
  /** Free lanes are filled between slices of so many milliseconds; 0: at once, exact processor sharing. */
  readonly sliceMs: number;
  /** Logins that may wait for a lane; more are shed. */
  readonly queueLimit: number;
}

/** Logins a second with so many clients in a closed loop. */
export interface CurvePoint {
  readonly concurrency: number;
  readonly perSecond: number;
}

export interface MeasuredService {
  /** At least one point, ascending by concurrency. */
  readonly curve: readonly CurvePoint[];
  /** Logins a second that were answered while more were asked for. @default none */
  readonly overloaded?: readonly number[];
  readonly workers: number;
  /** Lanes of one worker. */
  readonly lanes: number;
}

/**
 * k busy lanes on each of c workers are what c·k clients in a closed loop keep busy, so by Little's law a login takes
 * c·k / X(c·k) there. With all lanes busy an overloaded open loop is the truer measurement, if there is one: clients that
 * wait for each other's lanes keep them in step, and lanes that end one by one cut slices short, which costs some percent.
 */
export function createService({ curve, overloaded = [], workers, lanes }: MeasuredService): ServiceModel {
  const full = workers * lanes;
  const waiting = curve.filter(({ concurrency }) => concurrency > full).map(({ perSecond }) => perSecond);
  const fullRate = meanOf(overloaded) ?? meanOf(waiting) ?? responseRate(curve, full);
  const laneMs = Array.from({ length: lanes }, (_, index) => {
    const clients = workers * (index + 1);
    return (1000 * clients) / (clients === full ? fullRate : responseRate(curve, clients));
  });
  return withWorkers({ workers, laneMs, sliceMs: SLICE_MS, queueLimit: 0 }, workers);
}

const meanOf = (rates: readonly number[]): number | null =>
  rates.length === 0 ? null : rates.reduce((sum, rate) => sum + rate, 0) / rates.length;

/** The same service on as many cores: workers share nothing, so each is as fast as before. */
export function withWorkers(service: ServiceModel, workers: number): ServiceModel {
  const scaled = { ...service, workers };
  const queueLimit = Math.max(MIN_QUEUE_LIMIT, Math.ceil(QUEUE_SECONDS * capacityPerSecond(scaled)));
  return { ...scaled, queueLimit };
}

/** Logins a second with every lane busy: what no lasting load may reach. */
export function capacityPerSecond({ workers, laneMs }: ServiceModel): number {
  return (1000 * workers * laneMs.length) / (laneMs.at(-1) ?? Number.POSITIVE_INFINITY);
}

/** X(n) of the measured curve; between two points the response time n / X(n) is linear, beyond the last the rate is constant. */
function responseRate(curve: readonly CurvePoint[], clients: number): number {
  const above = curve.findIndex(({ concurrency }) => concurrency >= clients);
  const right = curve[above] ?? curve.at(-1);
  const left = curve[above - 1] ?? right;
  if (!left || !right) return 0;
  if (above === -1) return right.perSecond;
  const span = right.concurrency - left.concurrency;
  const share = span === 0 ? 0 : (clients - left.concurrency) / span;
  const [from, to] = [left.concurrency / left.perSecond, right.concurrency / right.perSecond];
  return clients / (from + share * (to - from));
}
