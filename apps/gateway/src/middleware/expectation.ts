/**
 * Rejects expectations that Bun does not answer (oven-sh/bun#30248). Bun answers only the exact text `100-continue`, although the
 * value is case-insensitive (RFC 9110 §10.1.1). The client would wait for a response before it sends the body.
 */
import { Elysia } from "elysia";
import { ServiceError } from "../errors.ts";

export function expectation() {
  return new Elysia({ name: "expectation" }).onRequest(({ request }) => {
    const expected = request.headers.get("expect");
    if (expected !== null && expected !== "100-continue") throw new ServiceError("EXPECTATION_FAILED");
  });
}
