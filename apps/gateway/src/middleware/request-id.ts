/** Sets `X-Request-ID`: the client's value if it is well-formed, otherwise a new UUIDv7. */
import { Elysia } from "elysia";
import { requestContext } from "../http/request-context.ts";

const WELL_FORMED = /^[A-Za-z0-9._-]{1,128}$/;

export function requestId() {
  return new Elysia({ name: "request-id" }).use(requestContext()).onRequest((context) => {
    const inbound = context.request.headers.get("x-request-id") ?? "";
    context.isRequestIdInbound = WELL_FORMED.test(inbound);
    context.requestId = context.isRequestIdInbound ? inbound : Bun.randomUUIDv7();
    context.set.headers["x-request-id"] = context.requestId;
  });
}
