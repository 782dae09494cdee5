/** The listener of the administration on the resources of a service under test. */
import { localUrl } from "@latchkey/config";
import { createDigests } from "@latchkey/limits";
import pino from "pino";
import { createAdministrationApp } from "../../src/administration-app.ts";
import type { Logger } from "../../src/observability/logger.ts";
import type { RequestObservation } from "../../src/observability/metrics.ts";
import { createMemoryStore, type Store } from "../../src/rate-limit/store.ts";
import { createEventCursors } from "../../src/tokens/event-cursors.ts";
import { cheapHasher } from "./cheap-hasher.ts";
import { type CallOptions, callService } from "./client.ts";
import { type LogLine, SECRET_KEY, type Service } from "./service.ts";

/** Of `ADMIN_API_KEYS` of the services that use this listener. */
export const KEY = "k".repeat(32);

interface AdministrationOptions {
  readonly store?: Store;
  /** @default writes to `log` */
  readonly logger?: Logger;
  /** @default 0 */
  readonly port?: number;
}

export async function openAdministration(
  service: Service,
  { store = createMemoryStore(), logger, port = 0 }: AdministrationOptions = {},
) {
  const log: LogLine[] = [];
  const observed: RequestObservation[] = [];
  /** The numbers of waiting readers, in the order of their changes. */
  const waiting: number[] = [];
  const stopping = new AbortController();
  const app = createAdministrationApp({
    config: service.config,
    database: service.database,
    hasher: cheapHasher(service.hasher),
    logger: logger ?? pino({ base: null }, { write: (line) => log.push(JSON.parse(line)) }),
    digestEmail: await service.database.digests.openEmailDigest(),
    isListedPassword: (password) => password === "listed password",
    store,
    digests: createDigests(SECRET_KEY),
    eventCursors: createEventCursors([SECRET_KEY]),
    observe: (request) => observed.push(request),
    observeEvents: { read: () => {}, waiting: (count) => waiting.push(count) },
    isStopping: () => stopping.signal.aborted,
    stopping: stopping.signal,
  });
  app.listen({ hostname: "127.0.0.1", port });
  const url = localUrl("127.0.0.1", app.server?.port ?? 0);
  return {
    url,
    log,
    observed,
    waiting,
    /** What the first step of a shutdown does. */
    stop: () => stopping.abort(),
    /** The events of changes, without what differs in each run. */
    events: () =>
      log
        .filter(({ event, status }) => event !== undefined && status === undefined)
        .map(({ time, level, request_id, msg, ...line }) => line),
    call: (method: string, path: string, options: CallOptions = {}) =>
      callService(url + path, method, { token: KEY, ...options }),
    async [Symbol.asyncDispose]() {
      await app.stop(true);
    },
  };
}
