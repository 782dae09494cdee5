/**
 * A baseline server that does the work of three routes of the service without its middleware. Its arguments are the
 * database's URL and the signing key.
 */
import { openDatabase } from "@latchkey/database";
import { Elysia } from "elysia";
import { parseConfig } from "../../src/config.ts";
import { createTodoService } from "../../src/features/todos/service.ts";
import { createTokens } from "../../src/middleware/jwt.ts";
import { importTokenKeys } from "../../src/token-keys.ts";

const [url = "", secretKey = ""] = process.argv.slice(2);
const database = await openDatabase({ url });
const todos = createTodoService(database.todos);
const config = parseConfig(
  { AUTH_SECRET_KEY: secretKey },
  { kernels: [], isTerminal: false, readFile: () => "" },
);
const keys = await importTokenKeys({ ...config.auth, openSecretKey: () => secretKey });
const tokens = createTokens({ ...config.auth, keys });

const app = new Elysia()
  .get("/healthz", () => ({ status: "ok" }))
  .get("/todos", async ({ query }) => {
    const { items, nextAfter } = await todos.list({ after: 0, limit: Number(query.limit) });
    return {
      items: items.map(({ id, title, completed, createdAt, updatedAt }) => ({
        id,
        title,
        completed,
        created_at: createdAt,
        updated_at: updatedAt,
      })),
      next_cursor:
        nextAfter === null ? null : Buffer.from(JSON.stringify({ id: nextAfter })).toString("base64"),
    };
  })
  .get("/auth/me", async ({ request }) => {
    const claims = await tokens.verify(request.headers.get("authorization")?.slice("Bearer ".length) ?? "");
    const user = claims && (await database.users.findById(claims.userId));
    if (!user) return new Response(null, { status: 401 });
    return {
      id: user.id,
      email: user.email,
      username: user.username,
      is_active: user.isActive,
      created_at: user.createdAt,
      updated_at: user.updatedAt,
    };
  })
  .listen({ hostname: "127.0.0.1", port: 0 });

process.stdout.write(`http://127.0.0.1:${app.server?.port}\n`);
