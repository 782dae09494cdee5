/** Metrics of requests, database calls and the process. Every label has a bounded number of values without personal data. */
import { MAIL_KINDS, type MailKind } from "@latchkey/contracts";
import { type Database, UserAlreadyExists } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { VERSION } from "../version.ts";
import { AUDIT_EVENTS, type AuditEntry, PASSKEY_REJECTIONS } from "./audit.ts";
import { type EventObserver, registerEventMetrics } from "./event-metrics.ts";
import { registerHasherMetrics } from "./hasher-metrics.ts";
import { registerImportedUsers } from "./imported-users.ts";

export interface LoginStep {
  readonly method: string;
  /** Whether the response decides the login. The step before only counts if it is unavailable. */
  readonly isLast: boolean;
  /** As the client sent it. */
  readonly provider?: string | undefined;
}

/** The data of a request that is observed after the response. */
export interface RequestObservation {
  readonly method: string;
  /** The pattern of the route; undefined if no route matches the path. */
  route?: string | undefined;
  status?: number | string | undefined;
  durationMs: number;
  /** The security-relevant events of the request, in the order of their effects. */
  audit?: AuditEntry[];
  /** What the operation does for a login. */
  login?: LoginStep | undefined;
  /** The replacement of an imported hash. */
  rehash?: AuditEntry;
}

export interface Metrics {
  observeRequest(observation: RequestObservation): void;
  /** `suppressed`: a budget is exceeded. `failed`: the server rejected the mail, or the mail has expired. */
  observeMail(outcome: "sent" | "failed" | "suppressed", kind: MailKind, count?: number): void;
  readonly accountEvents: EventObserver;
  /**
   * Runs a query and observes its duration and outcome.
   * @param operation `ping`, or the names of a repository and a method, such as `users.create`
   */
  timeQuery<Result>(operation: string, query: () => Promise<Result>): Promise<Result>;
  /** Returns all metrics in the Prometheus text format. */
  read(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Default metrics that are always zero in Bun, are not a number, or count memory that is only reserved. */
const USELESS_METRICS =
  /^(process_virtual_memory|process_heap|nodejs_(active|gc|heap_space|version|eventloop_lag_(min|mean|stddev)))_/;
/** Methods that are label values. Any other method has the value `other`, because a client can send any word. */
const METHODS = new Set(["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS", "PUT"]);
/** By status of a login. Any other status is no outcome, because the request was not a login. */
const LOGIN_OUTCOMES: ReadonlyMap<number | string, string> = new Map([
  [200, "succeeded"],
  [401, "rejected"],
  [403, "rejected"],
  [409, "rejected"],
  [429, "limited"],
  [503, "unavailable"],
]);
/** From the fastest response to the longest wait in a full queue. */
const REQUEST_BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const QUERY_BOUNDS_SECONDS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5];

interface MetricsOptions extends Pick<Database, "users" | "outbox" | "events"> {
  readonly hasher: Pick<Hasher, "stats">;
  /** Maximum number of database connections; null: an embedded database, for whose calls no connection is missing. */
  readonly poolSize: number | null;
  /** The ways to log in. */
  readonly loginMethods: readonly string[];
  /** The names of the configured providers. */
  readonly providers: readonly string[];
  /** The number of log lines that were dropped since the start. */
  readonly droppedLines: () => number;
  /** Whether limits are counted in Redis. @default there is no Redis */
  readonly isStoreShared?: (() => boolean) | undefined;
}

/** Starts to collect the process metrics. Metrics of the hasher and the outbox are read at each scrape. */
export function createMetrics(options: MetricsOptions): Metrics {
  const { hasher, poolSize, loginMethods, providers, droppedLines, isStoreShared } = options;
  const { users, outbox, events } = options;
  const registry = new Registry();
  const registers = [registry];
  // Registers the default metrics except the useless ones. The event loop delay is measured from one scrape to the next.
  const defaults = new Registry();
  collectDefaultMetrics({ register: defaults });
  for (const { name } of defaults.getMetricsAsArray()) {
    const metric = defaults.getSingleMetric(name);
    if (metric && !USELESS_METRICS.test(name)) registry.registerMetric(metric);
  }
  registerHasherMetrics(registry, hasher);
  const counter = <Label extends string>(name: string, help: string, ...labelNames: readonly Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string, collect: () => number | Promise<number>) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const set = (value: number) => this.set(value);
        // If `collect` fails, for example because the database is unreachable, the last value remains.
        await Promise.try(collect).then(set, () => undefined);
      },
    });
  const build = { name: "latchkey_build_info", help: "The version of the running release; always 1." };
  new Gauge({ ...build, labelNames: ["version"], registers }).set({ version: VERSION }, 1);

  const requests = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time to respond to a request in seconds, by method, route pattern and status.",
    labelNames: ["method", "route", "status"] as const,
    buckets: REQUEST_BOUNDS_SECONDS,
    registers,
  });
  const limited = counter("http_request_rate_limited_total", "Total number of requests rejected with 429.");
  const audited = counter(
    "audit_events_total",
    "Total number of security-relevant events of users, by event.",
    "event",
  );
  for (const event of AUDIT_EVENTS) audited.inc({ event }, 0);
  const rehashed = counter(
    "password_rehashes_total",
    "Total number of imported hashes that were replaced at a login, by format.",
    "format",
  );
  const passkeyResponses = counter(
    "passkey_responses_total",
    "Total number of verified responses of passkeys, by result: accepted, or the reason of the rejection.",
    "result",
  );
  for (const result of ["accepted", ...PASSKEY_REJECTIONS]) passkeyResponses.inc({ result }, 0);
  const logins = counter(
    "login_responses_total",
    "Total number of responses to logins, by method, configured provider and outcome.",
    "method",
    "provider",
    "outcome",
  );
  /** An empty label is no label. */
  const providersOf = (method: string) => (method === "provider" ? providers : [""]);
  for (const method of loginMethods)
    for (const provider of providersOf(method))
      for (const outcome of LOGIN_OUTCOMES.values()) logins.inc({ method, provider, outcome }, 0);
  const observeLogin = ({ method, isLast, provider = "" }: LoginStep, status: number | string): void => {
    const outcome = LOGIN_OUTCOMES.get(status);
    if (!outcome || !providersOf(method).includes(provider)) return;
    if (isLast || outcome === "unavailable") logins.inc({ method, provider, outcome });
  };
  registerImportedUsers(registers, users);
  const queries = new Histogram({
    name: "database_query_duration_seconds",
    help: "Time of a database call in seconds, including the wait for a connection, by operation and outcome.",
    labelNames: ["operation", "outcome"] as const,
    buckets: QUERY_BOUNDS_SECONDS,
    registers,
  });
  const mailCounter = (name: string, which: string) =>
    counter(name, `Total number of mails that ${which}, by kind.`, "kind");
  const mails = {
    sent: mailCounter("mail_sent_total", "the mail server accepted"),
    failed: mailCounter("mail_failed_total", "the mail server rejected, or that expired before"),
    suppressed: mailCounter("mail_suppressed_total", "exceeded the budget of the recipient"),
  };
  for (const outcome of Object.values(mails)) for (const kind of MAIL_KINDS) outcome.inc({ kind }, 0);
  gauge("mail_outbox_length", "Number of mails that wait, the same in all replicas.", () => outbox.count());
  const accountEvents = registerEventMetrics(registers, events);
  let inFlight = 0;
  gauge(
    "database_queries_in_flight",
    "Number of database calls in progress; those above the pool size wait for a connection.",
    () => inFlight,
  );
  if (isStoreShared)
    gauge(
      "rate_limit_store_shared",
      "1 while limits are counted in Redis for all replicas; otherwise 0.",
      () => Number(isStoreShared()),
    );
  new Counter({
    name: "log_lines_dropped_total",
    help: "Total number of log lines that were dropped because they were not read in time.",
    registers,
    collect() {
      this.reset();
      this.inc(droppedLines());
    },
  });
  if (poolSize !== null)
    gauge("database_pool_size", "Maximum number of connections to PostgreSQL.", () => poolSize);

  return {
    observeRequest(observation) {
      const { method, route = "none", status = 200, durationMs, audit = [], rehash, login } = observation;
      const labels = { method: METHODS.has(method) ? method : "other", route, status };
      requests.observe(labels, durationMs / 1000);
      if (status === 429) limited.inc();
      if (login) observeLogin(login, status);
      for (const { event, amr, reason } of audit) {
        audited.inc({ event });
        const isAccepted = event === "passkey.created" || amr?.includes("pop");
        const result = isAccepted ? "accepted" : reason;
        if (result && (isAccepted || event === "passkey.rejected")) passkeyResponses.inc({ result });
      }
      if (rehash) audited.inc({ event: rehash.event });
      if (rehash?.format) rehashed.inc({ format: rehash.format });
    },
    observeMail: (outcome, kind, count = 1) => mails[outcome].inc({ kind }, count),
    accountEvents,
    async timeQuery(operation, query) {
      const startedAt = performance.now();
      let outcome = "success";
      inFlight += 1;
      try {
        return await query();
      } catch (error) {
        outcome = error instanceof UserAlreadyExists ? "conflict" : "failure";
        throw error;
      } finally {
        inFlight -= 1;
        queries.observe({ operation, outcome }, (performance.now() - startedAt) / 1000);
      }
    },
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}
