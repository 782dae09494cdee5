/** `Date` on answers to HEAD: the server leaves it out there, and HEAD promises what GET would say (RFC 9110 §6.6.1, §9.3.2). */
import { Elysia } from "elysia";

export function headDate() {
  return new Elysia({ name: "head-date" }).onRequest(({ request, set }) => {
    if (request.method === "HEAD") set.headers.date = new Date().toUTCString();
  });
}
