// The resource server: your product. It accepts the tokens of the service, and keeps the notes of users.
import { createAdminClient } from "@latchkey/client/admin";
import express from "express";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { followUsers, userOf, users } from "./users.mjs";

const { LATCHKEY_URL = "http://127.0.0.1:3000", API_PORT = "8000" } = process.env;
// What the service calls itself: `AUTH_ISSUER`.
const { LATCHKEY_PUBLIC_URL = LATCHKEY_URL } = process.env;
const { LATCHKEY_ADMIN_URL: baseUrl = "http://127.0.0.1:3001", LATCHKEY_ADMIN_KEY: apiKey } = process.env;
const admin = createAdminClient({ baseUrl, apiKey });
const keys = createRemoteJWKSet(new URL(`${LATCHKEY_URL}/.well-known/jwks.json`), { cacheMaxAge: 300_000 });
const expected = { algorithms: ["ES256"], issuer: LATCHKEY_PUBLIC_URL, audience: "starter" };

/** By the id of the user. In memory: replace it by a table of your database. */
const notes = new Map();
const notesOf = ({ user }) => notes.get(user.id) ?? [];
void followUsers((id) => notes.delete(id));

async function authenticate(request, response, next) {
  const token = request.get("authorization")?.replace(/^Bearer /i, "");
  try {
    request.claims = (await jwtVerify(token, keys, expected)).payload;
    request.user = await userOf(request.claims);
  } catch (error) {
    // Otherwise the keys or the events cannot be read: the token can be valid.
    const isInvalid = /^ERR_(JW[ST]_|JWKS_NO_MATCHING_KEY)/.test(error.code);
    if (!isInvalid) return response.status(503).end();
  }
  if (!request.user) return response.status(401).set("www-authenticate", "Bearer").end();
  next();
}

const requireRole = (role) => (request, response, next) =>
  request.claims.roles.includes(role) ? next() : response.status(403).end();

const requireFactors = (maxAge) => (request, response, next) => {
  const { acr, auth_time } = request.claims;
  if (acr === "2fa" && Date.now() / 1000 - auth_time <= maxAge) return next();
  const challenge = `Bearer error="insufficient_user_authentication", acr_values="2fa", max_age=${maxAge}`;
  response.status(401).set("www-authenticate", challenge).end();
};

const app = express();
app.use(authenticate, express.json());
app.get("/me", ({ user, claims }, response) => {
  response.json({ username: user.username, roles: claims.roles, plan: claims.claims.plan ?? "free" });
});
app.get("/notes", (request, response) => void response.json(notesOf(request)));
app.post("/notes", (request, response) => {
  const isFull = request.claims.claims.plan !== "pro" && notesOf(request).length >= 3;
  if (isFull) return response.status(403).json({ detail: "The free plan has three notes" });
  notes.set(request.user.id, [...notesOf(request), String(request.body.text)]);
  response.status(201).json(notesOf(request));
});
app.delete("/notes", requireFactors(300), (request, response) => {
  notes.delete(request.user.id);
  response.status(204).end();
});
app.get("/users", requireRole("admin"), (_request, response) => {
  response.json({ emails: [...users.values()].map(({ email }) => email), authors: notes.size });
});
app.post("/invitations", requireRole("admin"), async (request, response) => {
  const { email } = await admin.createUser({ email: String(request.body.email), invite: true });
  response.status(201).json({ email });
});
app.use((_request, response) => void response.status(404).end());
app.use((error, _request, response, _next) => {
  process.stderr.write(`${error}\n`);
  response.status(error.status ?? 503).json({ detail: "That did not work" });
});
app.listen(Number(API_PORT), "127.0.0.1", (error) => {
  if (error) throw error;
  process.stdout.write(`Listening on ${API_PORT}\n`);
});
