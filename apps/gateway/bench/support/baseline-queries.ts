/**
 * A baseline server that runs the queries of two routes with the driver only and verifies nothing. Its arguments are the
 * database's URL and the size of the pool.
 */
import { SQL } from "bun";

const [url = "", poolSize = ""] = process.argv.slice(2);
const sql = new SQL(url, { max: Number(poolSize) });

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  routes: {
    "/auth/me": async () => {
      const [user] = await sql`
        select id, email, username, hashed_password, is_active, created_at, updated_at from users where id = ${1}`;
      return Response.json(user);
    },
    "/todos": async () => {
      const items = await sql`
        select id, title, completed, created_at, updated_at from todos where id > ${0} order by id asc limit ${21}`;
      return Response.json({ items });
    },
  },
});

process.stdout.write(`${server.url.origin}\n`);
