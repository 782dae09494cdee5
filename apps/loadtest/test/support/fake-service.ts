/** A service on a real socket whose responses a test controls: stalls, rejections and logins of a known cost. */

interface FakeServiceOptions {
  /** Awaited before every response. @default nothing */
  readonly beforeResponse?: (path: string) => Promise<void> | void;
  /** Returns the status of a login. @default 200 */
  readonly logIn?: (body: unknown) => Promise<number> | number;
}

export function startFakeService({ beforeResponse = () => {}, logIn = () => 200 }: FakeServiceOptions = {}) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      await beforeResponse(pathname);
      if (pathname === "/healthz") return Response.json({ status: "ok" });
      if (pathname === "/auth/me") return new Response(null, { status: 204 });
      if (pathname === "/auth/register") return Response.json({}, { status: 201 });
      if (pathname !== "/auth/login") return new Response("", { status: 404 });
      return Response.json(
        { access_token: "token", token_type: "bearer" },
        { status: await logIn(await request.json()) },
      );
    },
  });
  return { url: server.url.origin, [Symbol.asyncDispose]: () => server.stop(true) };
}
