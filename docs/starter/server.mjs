// The server in between: logs visitors in on the pages of the service, and keeps their tokens. The browser has only a cookie.
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { createClient, LatchkeyError } from "@latchkey/client";
import express from "express";

const { LATCHKEY_URL = "http://127.0.0.1:3000", API_URL = "http://127.0.0.1:8000" } = process.env;
// What browsers open.
const { LATCHKEY_PUBLIC_URL = LATCHKEY_URL } = process.env;
const { PORT = "8080", APP_URL = `http://localhost:${PORT}`, NODE_ENV } = process.env;
const client = { client_id: "web", redirect_uri: `${APP_URL}/callback` };

/** By the value of the cookie. In memory: replace it by a store that all your servers share. */
const sessions = new Map();
const random = () => randomBytes(32).toString("base64url");
// Without TLS, as on your machine, Safari keeps no secure cookies, and other browsers no `__Host-`.
const secure = APP_URL.startsWith("https:");
const [LOGIN, SESSION] = ["login", "session"].map((name) => (secure ? `__Host-${name}` : name));
const cookie = { path: "/", secure, httpOnly: true, sameSite: "lax", encode: String };
const cookieOf = (request, name) => request.get("cookie")?.match(`(?:^|; )${name}=([\\w./-]+)`)?.[1];
/** Only a page of this application: otherwise, a link could send visitors elsewhere after their login. */
const pageOf = (path) => (/^\/(?!\/)[\w/-]*$/.test(path) ? path : "/");

/** Returns the token, renewed first if that is due, also after a pause; or undefined if the session has ended. */
async function tokenOf(session, address) {
  const onTokenChange = (token) => {
    session.token = token;
  };
  const headers = { "x-forwarded-for": address };
  const latchkey = createClient({ baseUrl: LATCHKEY_URL, token: session.token, headers, onTokenChange });
  try {
    return await latchkey.getToken();
  } catch (error) {
    if (session.token !== undefined || !(error instanceof LatchkeyError)) throw error;
  } finally {
    latchkey.close();
  }
}

const app = express();

app.get("/login", (request, response) => {
  const [state, verifier] = [random(), random()];
  const code_challenge = createHash("sha256").update(verifier).digest("base64url");
  const query = new URLSearchParams({ response_type: "code", ...client, state, code_challenge });
  query.set("code_challenge_method", "S256");
  // What the resource server asks for in its challenge (RFC 9470), or the registration first.
  for (const name of ["acr_values", "max_age", "prompt"])
    if (request.query[name]) query.set(name, request.query[name]);
  const page = pageOf(request.query.page);
  response.cookie(LOGIN, `${state}.${verifier}.${page}`, { ...cookie, maxAge: 600_000 });
  response.redirect(303, `${LATCHKEY_PUBLIC_URL}/account/authorize?${query}`);
});

app.get("/callback", async (request, response) => {
  const { state, code, error } = request.query;
  const [begun, verifier, page] = cookieOf(request, LOGIN)?.split(".") ?? [];
  // Only the browser that began the login can end it. Otherwise, a link could log a visitor in as somebody else.
  if (!begun || begun !== state) return response.redirect(303, "/?error=no_login");
  response.clearCookie(LOGIN, cookie);
  if (!code) return response.redirect(303, `/?${new URLSearchParams({ error })}`);
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    ...client,
    code,
    code_verifier: verifier,
  });
  const headers = { "x-forwarded-for": request.ip };
  const exchanged = await fetch(`${LATCHKEY_URL}/oauth/token`, { method: "POST", headers, body });
  if (!exchanged.ok) return response.redirect(303, "/?error=code");
  const id = random();
  sessions.delete(cookieOf(request, SESSION));
  sessions.set(id, { token: (await exchanged.json()).access_token });
  response.cookie(SESSION, id, { ...cookie, maxAge: 30 * 86_400_000 }).redirect(303, page);
});

// `sameSite` keeps the cookie from the POST and DELETE of other sites.
app.post("/logout", (request, response) => {
  sessions.delete(cookieOf(request, SESSION));
  response.clearCookie(SESSION, cookie).status(204).end();
});

app.get("/account", (_request, response) => response.redirect(303, `${LATCHKEY_PUBLIC_URL}/account`));

app.use("/api", express.text({ type: "application/json" }), async (request, response) => {
  const id = cookieOf(request, SESSION);
  const session = sessions.get(id);
  const token = session && (await tokenOf(session, request.ip));
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const init = { method: request.method, headers, body: request.body };
  const answer = token ? await fetch(API_URL + request.url, init) : new Response(null, { status: 401 });
  const challenge = answer.headers.get("www-authenticate");
  // Revoked, blocked, deleted or expired: not merely too weak for this route.
  if (answer.status === 401 && !challenge?.includes("error=")) sessions.delete(id);
  if (challenge) response.set("www-authenticate", challenge);
  response
    .status(answer.status)
    .type("json")
    .send(await answer.text());
});

// The service or the resource server does not answer.
app.use((error, request, response, _next) => {
  process.stderr.write(`${request.method} ${request.path}: ${error.cause ?? error}\n`);
  if (request.path === "/callback") return response.redirect(303, "/?error=temporarily_unavailable");
  response.status(503).json({ detail: "Please try again in a moment" });
});

const server = createServer(app);
// Every path is a page of the application.
const sendPage = (_request, response) => response.sendFile("index.html", { root: "dist" });
if (NODE_ENV === "production") app.use(express.static("dist"), sendPage);
else {
  const vite = await import("vite");
  app.use((await vite.createServer({ server: { middlewareMode: true, hmr: { server } } })).middlewares);
}
server.listen(Number(PORT), "127.0.0.1", () => process.stdout.write(`Listening on ${APP_URL}\n`));
