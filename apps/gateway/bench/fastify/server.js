/**
 * The three measured routes as a small Fastify program on better-sqlite3 for Node, without middleware. Its arguments are the
 * URL of the database and the signing key. `http.bench.ts` installs and starts it outside of this folder.
 */
import jwt from "@fastify/jwt";
import Database from "better-sqlite3";
import fastify from "fastify";

const [url, secret] = process.argv.slice(2);
const database = new Database(url.slice("file:".length), { readonly: true });
const page = database.prepare(
  "select id, title, completed, created_at, updated_at from todos where id > ? order by id limit ?",
);
const userById = database.prepare(
  "select id, email, email_verified, username, is_active, created_at, updated_at from users where id = ?",
);

// Response schemas, which Fastify recommends because they make serialization faster.
const text = { type: "string" };
const integer = { type: "integer" };
const boolean = { type: "boolean" };
const times = { created_at: text, updated_at: text };
const reply = (properties) => ({ schema: { response: { 200: { type: "object", properties } } } });
const todo = { type: "object", properties: { id: integer, title: text, completed: boolean, ...times } };
const todoPage = { items: { type: "array", items: todo }, next_cursor: { type: ["string", "null"] } };
const user = { id: integer, email: text, email_verified: boolean, username: text, is_active: boolean };

const app = fastify();
await app.register(jwt, { secret });
app.get("/healthz", reply({ status: text }), () => Promise.resolve({ status: "ok" }));
app.get("/todos", reply(todoPage), async ({ query }) => {
  const limit = Number(query.limit);
  const rows = page.all(0, limit + 1);
  const items = rows.slice(0, limit).map((row) => ({ ...row, completed: row.completed === 1 }));
  const next = rows.length > limit ? btoa(JSON.stringify({ id: items.at(-1).id })) : null;
  return { items, next_cursor: next };
});
app.get("/auth/me", reply({ ...user, ...times }), async (request, response) => {
  const { sub } = await request.jwtVerify();
  const row = userById.get(Number(sub));
  if (!row) return response.code(401).send();
  if (row.is_active !== 1) return response.code(403).send();
  return { ...row, email_verified: row.email_verified === 1, is_active: true };
});

process.stdout.write(`${await app.listen({ host: "127.0.0.1", port: 0 })}\n`);
