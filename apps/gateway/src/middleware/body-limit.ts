/** Rejects a request whose `Content-Length` is more than 128 KiB, before the body is read. */
import { BODY_MAX_BYTES } from "@latchkey/contracts";
import { Elysia } from "elysia";
import { ServiceError } from "../errors.ts";

/** Checks `Content-Length` on every path, whether or not the route reads a body. */
export function bodyLimit() {
  return new Elysia({ name: "body-limit" }).onRequest(({ request }) => {
    const announced = request.headers.get("content-length");
    if (announced !== null && Number(announced) > BODY_MAX_BYTES) throw new ServiceError("PAYLOAD_TOO_LARGE");
  });
}
