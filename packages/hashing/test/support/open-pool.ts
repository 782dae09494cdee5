/** Opens a pool for one test, by default with the portable kernel, one worker and one lane. */
import { Pool, type PoolOptions } from "../../src/pool/pool.ts";

const WORKER = new URL("../../src/worker/worker.ts", import.meta.url);

export function fixtureUrl(name: string): URL {
  return new URL(`../fixtures/${name}`, import.meta.url);
}

export function openPool(options: Partial<PoolOptions>): Pool & AsyncDisposable {
  const pool = new Pool({
    workers: 1,
    lanes: 1,
    queueLimit: 1000,
    queueSeconds: 3600,
    setup: { kernel: { kind: "portable" }, nice: 0, quota: null },
    workerUrl: WORKER,
    ...options,
  });
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.close() });
}

/**
 * Opens a pool of workers that derive nothing, see `stepping-worker.ts`.
 * @param measured the lanes that each worker measures. @default `lanes`
 * @param stepped whether jobs finish one by one, for each message on the channel "step"
 */
export const openSteppingPool = ({
  lanes = 1,
  measured = [lanes],
  stepped = false,
  ...options
}: Partial<PoolOptions> & { measured?: readonly number[]; stepped?: boolean }) =>
  openPool({
    ...options,
    lanes,
    setup: {
      ...{ kernel: { kind: "portable" }, nice: 0, quota: null },
      ...{ lanes: measured, started: new Int32Array(new SharedArrayBuffer(4)), stepped },
    },
    workerUrl: fixtureUrl("stepping-worker.ts"),
  });
