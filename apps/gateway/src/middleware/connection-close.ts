/** Tells clients to leave while the process stops, so that nobody sends the next request into a connection that closes. */
import { Elysia } from "elysia";

/** RFC 9112 §9.6: the answer ends its connection. */
export function connectionClose(isStopping: () => boolean) {
  return new Elysia({ name: "leave-taking" }).onRequest(({ set }) => {
    if (isStopping()) set.headers.connection = "close";
  });
}
