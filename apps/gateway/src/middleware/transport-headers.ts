/** `Connection` and `Date`: headers about the message and its connection, where the server does not set them itself. */
import { Elysia } from "elysia";

export function transportHeaders({ isStopping }: { readonly isStopping: () => boolean }) {
  return new Elysia({ name: "transport-headers" }).onRequest(({ request, set }) => {
    // RFC 9112 §9.6. After a chunked request with a trailer the server sends an unsolicited 400 (oven-sh/bun#32887):
    // on a closed connection, no proxy can take it for the response to another client's request.
    if (isStopping() || request.headers.has("transfer-encoding")) set.headers.connection = "close";
    // RFC 9110 §6.6.1 and §9.3.2: the server omits `Date` on responses to HEAD.
    if (request.method === "HEAD") set.headers.date = new Date().toUTCString();
  });
}
