/** The metrics of the deployed service, scraped as by Prometheus. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { UserAlreadyExists } from "@latchkey/database";
import { post } from "@latchkey/testing/service-process";
import { LOGIN_METHODS } from "../../src/features/optional-features.ts";
import { AUDIT_EVENTS } from "../../src/observability/audit.ts";
import { createMetrics, type RequestObservation } from "../../src/observability/metrics.ts";
import { timedDatabase } from "../../src/observability/timed-database.ts";
import { VERSION } from "../../src/version.ts";
import { type Exposition, parseExposition, scrape } from "../support/exposition.ts";
import {
  codeBody,
  createVerifier,
  loginOidc,
  oidcBody,
  oidcVariables,
  REDIRECT_URI,
} from "../support/identities.ts";
import { variablesWith } from "../support/openapi/requests.ts";
import { startHostileProvider } from "../support/openid/hostile-provider.ts";
import { createVerified, enrol, logIn, loginBody } from "../support/passkeys.ts";
import { newCredentials, type Service, startService } from "../support/service.ts";
import { startInFolder } from "../support/service-process.ts";

const USER = { email: "ada@example.org", username: "ada", password: "correct horse battery" };

const metricsOptions = ({ hasher, database }: Service) => ({
  ...database,
  hasher,
  poolSize: 1,
  loginMethods: LOGIN_METHODS,
  providers: ["example", "other"],
  droppedLines: () => 0,
});

async function start(env: Readonly<Record<string, string>> = {}) {
  const service = await startInFolder({ METRICS_PORT: "0", ...env });
  const ready = await service.line("ready");
  const url = String(ready.url);
  return {
    ...service,
    url,
    ready,
    /** A request is observed just after its response, so another request is sent before the scrape. */
    async scrape() {
      await fetch(`${url}/healthz`);
      return scrape(ready);
    },
  };
}

let service: Awaited<ReturnType<typeof start>>;
/** Before the first request. */
let initial: Exposition;
beforeAll(async () => {
  service = await start({ RATE_LIMIT_ENABLED: "false" });
  initial = await scrape(service.ready);
  await post(`${service.url}/auth/register`, USER);
  for (const password of ["wrong", "wrong", USER.password])
    await post(`${service.url}/auth/login`, { ...USER, password });
});
afterAll(() => service[Symbol.asyncDispose]());

test("requests are counted by method, route pattern and status, and no label contains text that a client chose", async () => {
  for (const path of ["/todos/41", "/todos/42", "/todos?limit=7", "/nowhere/ada", "/todos/x%20y"]) {
    await fetch(service.url + path, { headers: { "x-request-id": "chosen" } });
  }
  await fetch(`${service.url}/todos`, { method: "PROPFIND" });
  const metrics = await service.scrape();
  const count = (labels: Record<string, string>) =>
    metrics.value("http_request_duration_seconds_count", labels);
  expect(count({ method: "POST", route: "/auth/register", status: "201" })).toBe(1);
  expect(count({ method: "POST", route: "/auth/login", status: "200" })).toBe(1);
  expect(count({ method: "POST", route: "/auth/login", status: "401" })).toBe(2);
  expect(count({ method: "GET", route: "/todos/:id", status: "404" })).toBe(2);
  expect(count({ method: "GET", route: "/todos/:id", status: "422" })).toBe(1);
  expect(count({ method: "GET", route: "/todos", status: "200" })).toBe(1);
  expect(count({ method: "GET", route: "none", status: "404" })).toBe(1);
  expect(count({ method: "other" })).toBe(1);
  expect(metrics.value("http_request_duration_seconds_sum")).toBeGreaterThan(0);
  const labels = new Set(metrics.samples.flatMap((sample) => Object.values(sample.labels)));
  for (const label of labels)
    expect(label).not.toMatch(/ada|example|chosen|^4[12]$|\blimit\b|PROPFIND|127\.0/);
});

test("security-relevant events are counted, and each counter starts at zero", async () => {
  const countOf = (metrics: Exposition, event: string) => metrics.value("audit_events_total", { event });
  expect(AUDIT_EVENTS.map((event) => countOf(initial, event))).toEqual(AUDIT_EVENTS.map(() => 0));
  const metrics = await service.scrape();
  const counts = ["user.registered", "login.failed", "login.succeeded", "login.limited"];
  expect(counts.map((event) => countOf(metrics, event))).toEqual([1, 2, 1, 0]);
});

test("hashing metrics contain the kernel, the capacity and the waiting and running times of derivations", async () => {
  const metrics = await service.scrape();
  const fallback = service.ready.kernel_fallback === null ? "0" : "1";
  expect(metrics.value("hash_kernel_info", { fallback })).toBe(1);
  expect(metrics.value("hash_workers")).toBe(1);
  expect(metrics.value("hash_lanes")).toBeGreaterThanOrEqual(1);
  expect(metrics.value("hash_lanes_busy")).toBe(0);
  expect(metrics.value("hash_queue_length")).toBe(0);
  expect(metrics.value("hash_queue_limit")).toBeGreaterThanOrEqual(64);
  expect(metrics.value("hash_capacity_per_second")).toBeGreaterThan(0);
  expect(metrics.value("hash_derivations_total")).toBe(4);
  expect(metrics.value("hash_queue_shed_total")).toBe(0);
  expect(metrics.value("hash_worker_crashes_total")).toBe(0);
  for (const name of ["hash_queue_waiting_seconds", "hash_deriving_seconds"]) {
    expect(metrics.families.get(name)).toBe("histogram");
    expect(metrics.value(`${name}_count`)).toBe(4);
    const buckets = metrics.samples.filter((sample) => sample.name === `${name}_bucket`);
    expect(buckets.at(-1)).toEqual({ name: `${name}_bucket`, labels: { le: "+Inf" }, value: 4 });
    const values = buckets.map(({ value }) => value);
    expect(values).toEqual(values.toSorted((a, b) => a - b));
  }
  expect(metrics.value("hash_deriving_seconds_sum")).toBeGreaterThan(0);
});

test("all assets of the documentation have one route, in metrics and in the log", async () => {
  const page = await (await fetch(`${service.url}/docs`)).text();
  const paths = new Set(page.match(/docs\/assets\/[^"]+/g));
  expect(paths.size).toBeGreaterThan(2);
  for (const path of paths) expect((await fetch(`${service.url}/${path}`)).status).toBe(200);
  const metrics = await service.scrape();
  const labels = { method: "GET", route: "/docs/assets/*", status: "200" };
  expect(metrics.value("http_request_duration_seconds_count", labels)).toBe(paths.size);
  const routes = service.lines.map(({ route }) => route).filter((route) => `${route}`.includes("assets"));
  expect(routes).toEqual([...paths].map(() => "/docs/assets/*"));
});

test("build information, process metrics and their names: each starts with the component that it describes", async () => {
  await service.scrape();
  const metrics = await service.scrape();
  expect(metrics.value("latchkey_build_info", { version: VERSION })).toBe(1);
  expect(metrics.value("process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
  expect(metrics.value("process_cpu_seconds_total")).toBeGreaterThan(0);
  expect(metrics.value("process_open_fds")).toBeGreaterThan(0);
  expect(metrics.value("nodejs_heap_size_used_bytes")).toBeGreaterThan(0);
  expect(metrics.value("nodejs_eventloop_lag_max_seconds")).toBeGreaterThanOrEqual(0);
  const unset = metrics.samples.filter(({ name }) =>
    /heap_space|active_|gc_duration|version_info/.test(name),
  );
  expect(unset).toEqual([]);
  for (const [name, type] of metrics.families) {
    expect(name).toMatch(
      /^(latchkey|http_request|audit|imported|passkey|password|login|hash|hash_queue|log|mail|database|account_events|process|nodejs)_[a-z0-9_]+$/,
    );
    if (type === "counter") expect(name).toEndWith("_total");
  }
});

test("/metrics is served on its own port only, and no other path is served there", async () => {
  expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
  const metrics = String(service.ready.metrics);
  expect(new URL(metrics).port).not.toBe(new URL(service.url).port);
  expect((await fetch(metrics)).headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  expect((await fetch(metrics, { method: "HEAD" })).status).toBe(200);
  expect((await fetch(metrics, { method: "POST" })).status).toBe(405);
  for (const path of ["/", "/healthz", "/metrics/x", "/todos"]) {
    expect((await fetch(new URL(path, metrics))).status).toBe(404);
  }
});

test("requests that exceed a quota, and logins rejected because the queue is full, are counted", async () => {
  const variables = { RATE_LIMIT_LOGIN: "10/hour", HASH_QUEUE_LIMIT: "0", HASH_KERNEL: "portable" };
  await using service = await start(variables);
  const logins = await Promise.all(Array.from({ length: 12 }, () => post(`${service.url}/auth/login`, USER)));
  const countOf = (expected: number) => logins.filter(({ status }) => status === expected).length;
  expect(countOf(503)).toBeGreaterThan(0);
  expect(countOf(429)).toBe(2);
  const metrics = await service.scrape();
  expect(metrics.value("http_request_rate_limited_total")).toBe(2);
  const loginsWith = (outcome: string) => metrics.value("login_responses_total", { outcome });
  expect([loginsWith("limited"), loginsWith("unavailable")]).toEqual([2, countOf(503)]);
  expect(metrics.value("hash_queue_shed_total")).toBe(countOf(503));
  expect(metrics.value("http_request_duration_seconds_count", { status: "503" })).toBe(countOf(503));
});

test("responses to logins are counted by method, provider and outcome, and a first step if it is unavailable", async () => {
  await using provider = await startHostileProvider();
  const requests: RequestObservation[] = [];
  await using other = await startHostileProvider();
  other.reply({ respond: () => new Response(null, { status: 500 }) });
  const env = { ...variablesWith(provider), ...oidcVariables([provider], [other, { name: "other" }]) };
  await using service = await startService({ env, observe: (request) => void requests.push(request) });
  const user = await createVerified(service);
  await service.call("POST", "/auth/login", { body: { ...user, password: "wrong" } });
  await logIn(service, await loginBody(service, await enrol(service, user)));
  await loginOidc(service, provider);
  await loginOidc(service, provider, { claims: { sub: "2", email_verified: false } });
  await loginOidc(service, provider, { claims: { sub: "2" } });
  const body = await oidcBody(service, provider);
  provider.reply({ respond: () => new Response(null, { status: 500 }) });
  await service.call("POST", "/auth/login/oidc/example", { body });
  await service.call("POST", "/auth/login/oidc/example", { body: { ...body, code_verifier: "short" } });
  await service.call("POST", "/auth/login/email", { body: await codeBody(service, user) });
  const options = { redirect_uri: REDIRECT_URI, code_challenge: createVerifier().challenge };
  // The metadata of the second provider were never read.
  for (const name of ["example", "other", "unknown"])
    await service.call("POST", `/auth/login/oidc/${name}/options`, { body: options });
  await service.request("/healthz");
  const metrics = createMetrics(metricsOptions(service));
  for (const request of requests) metrics.observeRequest(request);
  const { samples } = parseExposition((await metrics.read()).text);
  const logins = samples.filter(({ name }) => name === "login_responses_total");
  expect(new Set(logins.map(({ labels }) => labels.method))).toEqual(new Set(LOGIN_METHODS));
  const counted = logins.filter(({ value }) => value > 0);
  const rows = counted.map(({ labels, value }) => [labels.method, labels.provider, labels.outcome, value]);
  expect(rows.toSorted()).toEqual([
    ["code", "", "succeeded", 1],
    ["passkey", "", "succeeded", 1],
    ["password", "", "rejected", 1],
    ["password", "", "succeeded", 1],
    ["provider", "example", "rejected", 2],
    ["provider", "example", "succeeded", 1],
    ["provider", "example", "unavailable", 1],
    ["provider", "other", "unavailable", 1],
  ]);
});

test("users with an imported hash are counted by format", async () => {
  await using service = await startService();
  const imported = ["$2b$", "$2y$", "$argon2id$"].map((importedHash) => {
    const { email, username } = newCredentials();
    return { email, username, hashedPassword: "", importedHash };
  });
  await service.database.users.import(imported);
  const metrics = createMetrics(metricsOptions(service));
  const count = async (format: string) =>
    parseExposition((await metrics.read()).text).value("imported_users", { format });
  while ((await count("bcrypt")) === undefined) await new Promise(setImmediate);
  expect([await count("bcrypt"), await count("argon2")]).toEqual([2, 1]);
});

test("failed and waiting database calls are observed with their outcome", async () => {
  await using service = await startService();
  const metrics = createMetrics(metricsOptions(service));
  const read = async () => parseExposition((await metrics.read()).text);
  const pending = Promise.withResolvers<null>();
  const users = {
    ...service.database.users,
    create: () => Promise.reject(new UserAlreadyExists()),
    findById: () => pending.promise,
    delete: () => Promise.reject(new Error("gone")),
  };
  const timed = timedDatabase({ ...service.database, users }, metrics).users;
  const waiting = timed.findById(1);
  await expect(timed.delete(1)).rejects.toThrow("gone");
  const user = { email: "", username: "", hashedPassword: "" };
  await expect(timed.create(user)).rejects.toThrow(UserAlreadyExists);
  expect((await read()).value("database_queries_in_flight")).toBe(1);
  pending.resolve(null);
  expect(await waiting).toBeNull();
  const exposition = await read();
  expect(exposition.value("database_queries_in_flight")).toBe(0);
  expect(exposition.value("database_pool_size")).toBe(1);
  for (const [operation, outcome] of [
    ["users.delete", "failure"],
    ["users.create", "conflict"],
    ["users.findById", "success"],
  ] as const) {
    expect(exposition.value("database_query_duration_seconds_count", { operation, outcome })).toBe(1);
  }
});
