/**
 * The steps of every request, in their order. Each step runs before the router chooses a route, except the error handler and the
 * access log, which run for every response. `operations.ts` has the steps that depend on the operation.
 */
import { BODY_MAX_BYTES } from "@latchkey/contracts";
import { type AnyElysia, Elysia } from "elysia";
import { createEntry, requestEntry } from "../elysia/request-entry.ts";
import { createRouter } from "../elysia/workarounds.ts";
import { ServiceError } from "../errors.ts";
import { isChunked } from "../http/body.ts";
import type { Logger } from "../observability/logger.ts";
import type { RequestObservation } from "../observability/metrics.ts";
import { accessLog, createAccessLog, type Paths } from "./access-log.ts";
import { clientAddress } from "./client-address.ts";
import { cors, corsHeadersFor, preflight } from "./cors.ts";
import { errorHandler, fallbackErrorHandler } from "./error-handler.ts";
import { secureHeaders } from "./secure-headers.ts";

interface ServerOptions {
  /** Idle time until a connection is closed, 10 to 255, or 0 for never. */
  readonly idleTimeoutSeconds: number;
  /** Exact origins, or `*` for any. null: browsers of other origins cannot use the server. */
  readonly corsOrigins: "*" | readonly string[] | null;
  readonly trustProxy: number | null;
  /** Rejects requests before anything else is read, for example those over a limit. Preflights have been answered. */
  readonly gate: AnyElysia;
  readonly logger: Logger;
  /** See `createAccessLog`. */
  readonly logsPaths: boolean;
  readonly probePaths: Paths;
  readonly assetPaths: Paths;
  /** The errors of these paths have the member `error` of OAuth. @default none */
  readonly oauthPaths?: Paths | undefined;
  /** Requests to these paths are logged only if an error occurs, and need no address. */
  readonly silentPaths: Paths;
  /** Called for each request, after the response. */
  readonly observe: ((request: RequestObservation) => void) | undefined;
  /** Whether clients reach the server through HTTPS only. */
  readonly secureTransport: boolean;
  readonly isStopping: () => boolean;
}

/** Returns a server without routes. */
export function createServer(options: ServerOptions): AnyElysia {
  const { corsOrigins, trustProxy, logger, logsPaths, probePaths, assetPaths, silentPaths } = options;
  const { observe, secureTransport, oauthPaths = new Set() } = options;
  const log = createAccessLog({ logger, logsPaths, probePaths, assetPaths, observe });
  /** The headers with the same value in all responses. */
  const defaultHeaders = {
    ...(corsOrigins !== null && corsHeadersFor(corsOrigins)),
    ...secureHeaders({ secureTransport }),
  };
  const peerAddress = (request: Request): string | undefined => app.server?.requestIP(request)?.address;
  const steps: AnyElysia[] = [
    errorHandler(oauthPaths),
    ...(corsOrigins === null ? [] : [cors(corsOrigins)]),
    transportHeaders(options.isStopping),
    requestId(),
    clientAddress({ trustProxy, logger, silentPaths, peerAddress }),
    ...(corsOrigins === null ? [] : [preflight(log, defaultHeaders)]),
    options.gate,
    expectation(),
    bodyLimit(),
    accessLog({ log, silentPaths: observe ? new Set() : silentPaths, defaultHeaders }),
  ];
  const app = createRouter(options.idleTimeoutSeconds, fallbackErrorHandler(logger));
  app.use(start());
  for (const step of steps) app.use(step);
  return app;
}

const start = () =>
  new Elysia({ name: "start" }).use(requestEntry()).onRequest((context) => {
    // Elysia sets `path` before the first hook, but the types of Elysia 1 and 2 declare `path` only for later hooks.
    const { path, request } = context as typeof context & { readonly path: string };
    const matchedPath = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    context.entry = createEntry(request.method, path, matchedPath);
  });

/**
 * Sets `Connection` and `Date` where Bun does not. After a chunked request with a trailer, Bun sends an unsolicited
 * 400 (oven-sh/bun#32887). Every response to a chunked request therefore closes the connection (RFC 9112 §9.6), so that no
 * proxy can mistake the 400 for the response to another client's request.
 */
const transportHeaders = (isStopping: () => boolean) =>
  new Elysia({ name: "transport-headers" }).onRequest(({ request, set }) => {
    if (isStopping() || isChunked(request)) set.headers.connection = "close";
    // Bun omits `Date` on responses to HEAD (RFC 9110 §6.6.1, §9.3.2).
    if (request.method === "HEAD") set.headers.date = new Date().toUTCString();
  });

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
/** Version 00 has exactly 55 characters. Later versions can append a hyphen and more characters (W3C Trace Context §3.2). */
const TRACE_PARENT =
  /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

/** Every response has the id of its request: a well-formed one of the client, otherwise a UUIDv7. */
const requestId = () =>
  new Elysia({ name: "request-id" }).use(requestEntry()).onRequest(({ entry, request, set }) => {
    const inbound = request.headers.get("x-request-id") ?? "";
    entry.isRequestIdInbound = REQUEST_ID.test(inbound);
    entry.requestId = entry.isRequestIdInbound ? inbound : Bun.randomUUIDv7();
    set.headers["x-request-id"] = entry.requestId;
    const traceParent = request.headers.get("traceparent");
    if (traceParent !== null) entry.traceId = TRACE_PARENT.exec(traceParent)?.[1];
  });

/**
 * Rejects expectations that Bun does not answer (oven-sh/bun#30248). Bun answers only the exact text `100-continue`, although the
 * value is case-insensitive (RFC 9110 §10.1.1). The client would wait for a response before it sends the body.
 */
const expectation = () =>
  new Elysia({ name: "expectation" }).onRequest(({ request }) => {
    const expected = request.headers.get("expect");
    if (expected !== null && expected !== "100-continue") throw new ServiceError("EXPECTATION_FAILED");
  });

/** Checks `Content-Length` on every path, whether or not the operation has a body, before the body is read. */
const bodyLimit = () =>
  new Elysia({ name: "body-limit" }).onRequest(({ request }) => {
    const announced = request.headers.get("content-length");
    if (announced !== null && Number(announced) > BODY_MAX_BYTES) throw new ServiceError("PAYLOAD_TOO_LARGE");
  });
