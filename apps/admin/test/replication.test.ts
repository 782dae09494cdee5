/** The move to another PostgreSQL server that docs/production.md describes, with a real publication and subscription. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openDatabase } from "@latchkey/database";
import { inFullRun } from "@latchkey/testing/full-run";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { ROOT } from "@latchkey/testing/repository";
import { runTool } from "./support/tool.ts";

/** The statement of the guide that begins with these words. */
async function statementOf(beginning: string): Promise<string> {
  const guide = await Bun.file(join(ROOT, "docs/production.md")).text();
  const statement = new RegExp(`^ *(${beginning}[^;]*);`, "m").exec(guide)?.[1];
  if (statement === undefined) throw new Error(`The guide has no statement ${beginning}`);
  return statement;
}

inFullRun(test)(
  "logical replication copies every row, the new server is refused until raise-ids ran, and tokens stay valid",
  async () => {
    await using source = await startPostgresServer({ wal_level: "logical" });
    await using target = await startPostgresServer();
    const [from, to] = [await source.createDatabase(), await target.createDatabase()];
    const tool = (url: string, ...args: string[]) => runTool(args, { env: { DATABASE_URL: url }, input: "" });
    for (const url of [from, to]) expect((await tool(url, "migrate")).code).toBe(0);
    expect((await tool(from, "events", "on")).code).toBe(0);
    const insert = (name: string) =>
      source.query(
        `insert into users (email, username, hashed_password, token_version, password_change_token_id)
         values ('${name}@example.org', '${name}', 's$d', 7, 'kept')`,
        from,
      );
    await insert("ada");
    await source.query("insert into outbox (kind, user_id) values ('password', 1)", from);
    await source.query(
      "insert into identities (user_id, issuer, subject, provider) values (1, 'i', 's', 'p')",
      from,
    );
    await source.query("insert into todos (title) values ('One')", from);

    await target.query(await statementOf("TRUNCATE"), to);
    await source.query(await statementOf("CREATE PUBLICATION"), from);
    const connection = `host=127.0.0.1 port=${source.port} user=postgres password=postgres dbname=${new URL(from).pathname.slice(1)}`;
    const subscribe = await statementOf("CREATE SUBSCRIPTION");
    await target.query(subscribe.replace(/'[^']*'/, `'${connection}'`), to);
    const copied = await statementOf("SELECT count");
    while ((await target.query<{ count: string }>(copied, to))[0]?.count !== "0") await Bun.sleep(20);
    await insert("bob");
    const caughtUp = await statementOf("SELECT pg_current_wal_lsn");
    while (!Object.values((await source.query<object>(caughtUp, from))[0] ?? {})[0]) await Bun.sleep(20);
    await target.query(await statementOf("DROP SUBSCRIPTION"), to);

    const tables = await source.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public' and tablename not like '\\_\\_%'",
      from,
    );
    for (const { name } of tables) {
      const rows = `select * from public.${name} order by 1`;
      expect([name, await target.query(rows, to)]).toEqual([name, await source.query(rows, from)]);
    }
    const openTarget = () => openDatabase({ url: to });
    {
      await using moved = await openTarget();
      expect(await moved.checkIds().catch((error) => error.code)).toBe("IDS_BEHIND");
    }
    expect((await tool(to, "raise-ids", "--keep-tokens")).code).toBe(0);
    await using moved = await openTarget();
    await moved.checkIds();
    const eve = { email: "eve@example.org", username: "eve", hashedPassword: "s$d", verifies: true };
    const identity = { issuer: "i", subject: "other", provider: "p" };
    expect(await moved.users.create(eve, identity)).toMatchObject({ id: 1_000_003 });
    expect(await moved.users.findById(1)).toMatchObject({ tokenVersion: 7, passwordChangeTokenId: "kept" });
    const last = await moved.events.placeNow();
    expect((await moved.events.read({ after: null, limit: 9 }))?.items).toHaveLength(3);
    expect(last?.position).toBe(3);
  },
);
