/**
 * The three measured routes as a small Elysia program without middleware, on `bun:sqlite` or `Bun.sql`. Its arguments are the URL of
 * the database, the signing key and the size of the pool.
 */
import { Database } from "bun:sqlite";
import { jwt } from "@elysiajs/jwt";
import { SQL } from "bun";
import { Elysia, status } from "elysia";

const [url = "", secret = "", poolSize = ""] = process.argv.slice(2);
const app = new Elysia().use(jwt({ secret })).get("/healthz", () => ({ status: "ok" }));

const toPage = (items: readonly { readonly id: number }[], hasMore: boolean) => {
  const last = hasMore ? items.at(-1) : undefined;
  return { items, next_cursor: last ? btoa(JSON.stringify({ id: last.id })) : null };
};

if (url.startsWith("file:")) {
  const database = new Database(url.slice("file:".length), { readonly: true });
  const page = database.query<{ readonly id: number; readonly completed: number }, [number, number]>(
    "select id, title, completed, created_at, updated_at from todos where id > ? order by id limit ?",
  );
  const userById = database.query<{ readonly email_verified: number; readonly is_active: number }, [number]>(
    "select id, email, email_verified, username, is_active, created_at, updated_at from users where id = ?",
  );
  app.get("/todos", ({ query }) => {
    const limit = Number(query.limit);
    const rows = page.all(0, limit + 1);
    const items = rows.slice(0, limit).map((todo) => ({ ...todo, completed: todo.completed === 1 }));
    return toPage(items, rows.length > limit);
  });
  app.get("/auth/me", async ({ jwt, headers }) => {
    const claims = await jwt.verify(headers.authorization?.slice("Bearer ".length));
    const user = claims && userById.get(Number(claims.sub));
    if (!user) return status(401);
    if (user.is_active !== 1) return status(403);
    return { ...user, email_verified: user.email_verified === 1, is_active: true };
  });
} else {
  const sql = new SQL(url, { max: Number(poolSize) });
  /** Ids are bigint columns. */
  const withNumber = <Row extends { readonly id: string }>(row: Row) => ({ ...row, id: Number(row.id) });
  app.get("/todos", async ({ query }) => {
    const limit = Number(query.limit);
    const rows: { readonly id: string }[] = await sql`
      select id, title, completed, created_at, updated_at from todos where id > ${0} order by id limit ${limit + 1}`;
    return toPage(rows.slice(0, limit).map(withNumber), rows.length > limit);
  });
  app.get("/auth/me", async ({ jwt, headers }) => {
    const claims = await jwt.verify(headers.authorization?.slice("Bearer ".length));
    if (!claims) return status(401);
    const [user]: { readonly id: string; readonly is_active: boolean }[] = await sql`
      select id, email, email_verified, username, is_active, created_at, updated_at from users where id = ${Number(claims.sub)}`;
    if (!user) return status(401);
    return user.is_active ? withNumber(user) : status(403);
  });
}

app.listen({ hostname: "127.0.0.1", port: 0 });
process.stdout.write(`http://127.0.0.1:${app.server?.port}\n`);
