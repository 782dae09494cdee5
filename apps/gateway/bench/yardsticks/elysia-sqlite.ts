/**
 * The three measured routes as a small Elysia program on `bun:sqlite`, without middleware. Its arguments are the URL of the
 * database and the signing key.
 */
import { Database } from "bun:sqlite";
import { jwt } from "@elysiajs/jwt";
import { Elysia, status } from "elysia";

const [url = "", secret = ""] = process.argv.slice(2);
const database = new Database(url.slice("file:".length), { readonly: true });
const page = database.query<{ readonly id: number; readonly completed: number }, [number, number]>(
  "select id, title, completed, created_at, updated_at from todos where id > ? order by id limit ?",
);
const userById = database.query<{ readonly email_verified: number; readonly is_active: number }, [number]>(
  "select id, email, email_verified, username, is_active, created_at, updated_at from users where id = ?",
);

const app = new Elysia()
  .use(jwt({ secret }))
  .get("/healthz", () => ({ status: "ok" }))
  .get("/todos", ({ query }) => {
    const limit = Number(query.limit);
    const rows = page.all(0, limit + 1);
    const items = rows.slice(0, limit).map((todo) => ({ ...todo, completed: todo.completed === 1 }));
    const last = rows.length > limit ? items.at(-1) : undefined;
    return { items, next_cursor: last ? btoa(JSON.stringify({ id: last.id })) : null };
  })
  .get("/auth/me", async ({ jwt, headers }) => {
    const claims = await jwt.verify(headers.authorization?.slice("Bearer ".length));
    const user = claims && userById.get(Number(claims.sub));
    if (!user) return status(401);
    if (user.is_active !== 1) return status(403);
    return { ...user, email_verified: user.email_verified === 1, is_active: true };
  })
  .listen({ hostname: "127.0.0.1", port: 0 });

process.stdout.write(`http://127.0.0.1:${app.server?.port}\n`);
