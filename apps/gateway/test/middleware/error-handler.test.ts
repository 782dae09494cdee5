/** The paths and methods of the service, and the responses to all others. */
import { expect, test } from "bun:test";
import type { Todo } from "@latchkey/contracts";
import { shareService } from "../support/service.ts";

const ALLOWED: Readonly<Record<string, string>> = {
  "/auth/register": "POST",
  "/auth/login": "POST",
  "/auth/me": "DELETE, GET, HEAD, PATCH",
  "/todos": "GET, HEAD, POST",
  "/todos/no-id": "DELETE, GET, HEAD, PATCH",
  "/healthz": "GET, HEAD",
  "/readyz": "GET, HEAD",
  "/docs": "GET, HEAD",
  "/openapi.json": "GET, HEAD",
};
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"];

const shared = shareService();

test("an unknown path returns 404 for every method", async () => {
  const service = shared();
  const { token } = await service.createUser();
  const paths = ["/", "/auth", "/auth/", "/auth/ME", "/auth/me/x", "/todos/1/2", "/healthz/x", "/admin"];
  for (const path of [...paths, "/todos%2F1", "/auth%2Fme", "/.env", "/__proto__", "/constructor"]) {
    for (const method of METHODS) {
      const { status, text } = await service.call(method, path, { token });
      const expected = method === "HEAD" ? "" : '{"detail":"Not Found","code":"NOT_FOUND"}';
      expect([method, path, status, text]).toEqual([method, path, 404, expected]);
    }
  }
});

test.each(Object.entries(ALLOWED))(
  "an unsupported method on %s returns 405 with Allow",
  async (path, allow) => {
    const service = shared();
    for (const method of METHODS.filter((name) => !allow.split(", ").includes(name))) {
      const { status, text, headers } = await service.call(method, path);
      const expected = method === "HEAD" ? "" : '{"detail":"Method Not Allowed","code":"METHOD_NOT_ALLOWED"}';
      expect([method, status, text, headers.get("allow")]).toEqual([method, 405, expected, allow]);
    }
  },
);

// A page redirects, because its URLs are relative (`pages/routes.test.ts`).
test.each([...Object.keys(ALLOWED).filter((path) => path !== "/docs"), "/nowhere"])(
  "a path with a trailing slash is the same route, for every method: %s",
  async (path) => {
    for (const method of METHODS) {
      const [bare, slashed] = [await shared().call(method, path), await shared().call(method, `${path}/`)];
      expect([method, slashed.status, slashed.text]).toEqual([method, bare.status, bare.text]);
      for (const name of ["allow", "content-type", "location", "etag"]) {
        expect([method, name, slashed.headers.get(name)]).toEqual([method, name, bare.headers.get(name)]);
      }
    }
  },
);

test("HEAD works wherever GET does, with the same status and headers and no body", async () => {
  const service = shared();
  const { token } = await service.createUser();
  const { id } = (await service.call("POST", "/todos", { body: { title: "x" } })).expect<Todo>(201);
  const paths = ["/auth/me", "/todos", `/todos/${id}`, "/healthz", "/docs", "/openapi.json"];
  for (const path of [...paths, "/todos?limit=0", "/todos/0", "/todos/99999", "/nowhere"]) {
    const [get, head] = [
      await service.call("GET", path, { token }),
      await service.call("HEAD", path, { token }),
    ];
    expect([path, head.status, head.text]).toEqual([path, get.status, ""]);
    for (const name of ["content-type", "content-length", "cache-control"]) {
      expect([path, name, head.headers.get(name)]).toEqual([path, name, get.headers.get(name)]);
    }
  }
});
