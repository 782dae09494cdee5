/** Runs each request that can write as a caller of the database, so that one client cannot delay the writes of all others. */
import { callers } from "@latchkey/database";
import { Elysia } from "elysia";
import { clientKey } from "./client-address.ts";
import { requestContext } from "./request-context.ts";

/** Before the hooks run, the address is unknown. */
export function databaseCaller() {
  return new Elysia({ name: "database-caller" })
    .use(requestContext())
    .wrap((handle, { method }) =>
      method === "GET"
        ? handle
        : (...request: unknown[]) => callers.run({ client: "", queriedMs: 0 }, () => handle(...request)),
    )
    .onRequest(({ clientAddress }) => {
      const caller = callers.getStore();
      if (caller) caller.client = clientKey(clientAddress);
    });
}
