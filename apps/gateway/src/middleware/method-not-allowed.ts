/** Answers the methods that a known path does not have; an unknown path stays a 404. Registered after every route. */
import { type AnyElysia, Elysia } from "elysia";
import { MethodNotAllowed } from "../errors.ts";

export function methodNotAllowed(app: AnyElysia) {
  const methods = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    const known = methods.get(path) ?? new Set();
    methods.set(path, known.add(method));
    if (method === "GET") known.add("HEAD");
  }
  const fallbacks = new Elysia({ name: "method-not-allowed" });
  for (const [path, known] of methods) {
    const allow = [...known].sort().join(", ");
    fallbacks.all(
      path,
      () => {
        throw new MethodNotAllowed(allow);
      },
      { parse: "none", detail: { hide: true } },
    );
  }
  return fallbacks;
}
