/** Adds `authRequest` to the context of the routes that are registered after this plugin. */
import type { EmailDigest } from "@latchkey/database";
import { Elysia } from "elysia";
import { requestContext } from "../elysia/request-context.ts";
import type { AuthRequest } from "../observability/audit.ts";
import { clientKey } from "./client-address.ts";

export const authRequests = (digestEmail: EmailDigest) =>
  new Elysia({ name: "auth-request" })
    .use(requestContext())
    .resolve({ as: "scoped" }, ({ clientAddress, entry, request }) => {
      const authRequest: AuthRequest = {
        signal: request.signal,
        network: clientKey(clientAddress),
        audit(event, email, userId, details) {
          const emailDigest = email === null ? undefined : digestEmail(email);
          entry.audit = { event, userId, emailDigest, ...details };
        },
        rehashed(format, { id: userId, email }) {
          entry.rehash = { event: "password.rehashed", format, userId, emailDigest: digestEmail(email) };
        },
        warn(error) {
          entry.error = error;
        },
      };
      return { authRequest };
    });
