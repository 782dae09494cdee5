/**
 * Sets `X-Request-ID`: the client's value if it is well-formed, otherwise a new UUIDv7. Log lines also contain the id of the trace to
 * which the request belongs, if any (W3C Trace Context §3.2).
 */
import { Elysia } from "elysia";
import { requestContext } from "../elysia/request-context.ts";

const WELL_FORMED = /^[A-Za-z0-9._-]{1,128}$/;
/** Version 00 has exactly 55 characters. Later versions can append a hyphen and more characters. */
const TRACE_PARENT =
  /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

export function requestId() {
  return new Elysia({ name: "request-id" }).use(requestContext()).onRequest(({ entry, request, set }) => {
    const inbound = request.headers.get("x-request-id") ?? "";
    entry.isRequestIdInbound = WELL_FORMED.test(inbound);
    entry.requestId = entry.isRequestIdInbound ? inbound : Bun.randomUUIDv7();
    set.headers["x-request-id"] = entry.requestId;
    const traceParent = request.headers.get("traceparent");
    if (traceParent !== null) entry.traceId = TRACE_PARENT.exec(traceParent)?.[1];
  });
}
