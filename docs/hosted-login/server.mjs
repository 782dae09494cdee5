// A web server that logs users in on the pages of Latchkey, and keeps their tokens in sessions of its own. Node 20 or later.
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";

const { LATCHKEY = "http://localhost:3000", APP = "http://localhost:8080", PORT = "8080" } = process.env;
const [CLIENT, CALLBACK] = [{ client_id: "web" }, `${APP}/callback`];
/** By the value of the cookie. Several servers need a store that they share. */
const sessions = new Map();
const random = () => randomBytes(32).toString("base64url");
// Without TLS, as on your machine, Safari keeps no secure cookies, and other browsers no `__Host-`.
const [prefix, secure] = APP.startsWith("https:") ? ["__Host-", "Secure; "] : ["", ""];
const cookie = (name, value, seconds) =>
  `${prefix}${name}=${value}; Path=/; ${secure}HttpOnly; SameSite=Lax; Max-Age=${seconds}`;
const cookieOf = ({ headers }, name) => headers.cookie?.match(`(?:^|; )${prefix}${name}=([\\w.-]+)`)?.[1];
const keep = (id, { access_token: token, expires_in: seconds = 3600 }) =>
  sessions.set(id, { token, renewAt: Date.now() + seconds * 750 });

const routes = {
  "/login"(_request, _query, response) {
    const [state, verifier] = [random(), random()];
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const pkce = { code_challenge: challenge, code_challenge_method: "S256" };
    const query = new URLSearchParams({
      response_type: "code",
      redirect_uri: CALLBACK,
      state,
      ...CLIENT,
      ...pkce,
    });
    response.setHeader("set-cookie", cookie("login", `${state}.${verifier}`, 600));
    response.writeHead(303, { location: `${LATCHKEY}/account/authorize?${query}` }).end();
  },
  async "/callback"(request, query, response) {
    const [state, verifier] = cookieOf(request, "login")?.split(".") ?? [];
    // Only the browser that began the login can end it. Otherwise, a link could log a visitor in as somebody else.
    if (!state || state !== query.get("state")) return response.writeHead(400).end("Begin again at /login");
    const code = { grant_type: "authorization_code", code: query.get("code") ?? "", code_verifier: verifier };
    const body = new URLSearchParams({ ...code, redirect_uri: CALLBACK, ...CLIENT });
    const exchanged = await fetch(`${LATCHKEY}/oauth/token`, { method: "POST", body });
    if (!exchanged.ok) return response.writeHead(400).end("You were not logged in");
    const id = random();
    keep(id, await exchanged.json());
    response.setHeader("set-cookie", [cookie("session", id, 2_592_000), cookie("login", "", 0)]);
    response.writeHead(303, { location: "/" }).end();
  },
  async "/"(request, _query, response) {
    const id = cookieOf(request, "session");
    const call = (method, path) =>
      fetch(LATCHKEY + path, { method, headers: { authorization: `Bearer ${sessions.get(id).token}` } });
    const renewed = sessions.get(id)?.renewAt < Date.now() && (await call("POST", "/auth/tokens"));
    if (renewed?.ok) keep(id, await renewed.json());
    const me = sessions.has(id) ? await call("GET", "/auth/me") : undefined;
    if (me?.ok) return response.end(`Hello ${(await me.json()).username}`);
    // Revoked, deactivated, deleted or expired.
    if (me && me.status < 429) sessions.delete(id);
    response.writeHead(303, { location: "/login" }).end();
  },
  "/logout"(request, _query, response) {
    // `SameSite` keeps the cookie from a POST of another site.
    if (request.method !== "POST") return response.writeHead(405).end();
    sessions.delete(cookieOf(request, "session"));
    response.writeHead(204, { "set-cookie": cookie("session", "", 0) }).end();
  },
};

createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, APP);
  const route = Object.hasOwn(routes, pathname) ? routes[pathname] : undefined;
  try {
    await (route ? route(request, searchParams, response) : response.writeHead(404).end());
  } catch (error) {
    process.stderr.write(`${error}\n`);
    response.writeHead(503).end("Please try again");
  }
}).listen(Number(PORT));
