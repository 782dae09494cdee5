/**
 * The three measured routes as a small Elysia program on `Bun.sql`, without middleware. Its arguments are the URL of the
 * database, the signing key and the size of the pool.
 */
import { jwt } from "@elysiajs/jwt";
import { SQL } from "bun";
import { Elysia, status } from "elysia";

interface Row {
  /** A bigint column. */
  readonly id: string;
}

const [url = "", secret = "", poolSize = ""] = process.argv.slice(2);
const sql = new SQL(url, { max: Number(poolSize) });
const withNumber = <Any extends Row>(row: Any) => ({ ...row, id: Number(row.id) });

const app = new Elysia()
  .use(jwt({ secret }))
  .get("/healthz", () => ({ status: "ok" }))
  .get("/todos", async ({ query }) => {
    const limit = Number(query.limit);
    const rows: Row[] = await sql`
      select id, title, completed, created_at, updated_at from todos where id > ${0} order by id limit ${limit + 1}`;
    const items = rows.slice(0, limit).map(withNumber);
    const last = rows.length > limit ? items.at(-1) : undefined;
    return { items, next_cursor: last ? btoa(JSON.stringify({ id: last.id })) : null };
  })
  .get("/auth/me", async ({ jwt, headers }) => {
    const claims = await jwt.verify(headers.authorization?.slice("Bearer ".length));
    if (!claims) return status(401);
    const [user]: (Row & { readonly is_active: boolean })[] = await sql`
      select id, email, email_verified, username, is_active, created_at, updated_at from users where id = ${Number(claims.sub)}`;
    if (!user) return status(401);
    return user.is_active ? withNumber(user) : status(403);
  })
  .listen({ hostname: "127.0.0.1", port: 0 });

process.stdout.write(`http://127.0.0.1:${app.server?.port}\n`);
