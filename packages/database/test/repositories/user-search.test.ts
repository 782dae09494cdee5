/**
 * The statements of both databases for the searches and counts of operators. Each reads a page and a slice of an index at most, also
 * if no user matches and if every user has the property that the index contains.
 */
import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { sharedPostgresServer } from "@latchkey/testing/shared-postgres-server";
import { SQL } from "bun";
import { fillPlaceholders } from "drizzle-orm";
import { drizzle } from "drizzle-orm/pg-proxy";
import Database from "libsql";
import type { Dialect, Orm } from "../../src/dialect.ts";
import { createOrm } from "../../src/libsql/connection.ts";
import { dialect as libsqlDialect } from "../../src/libsql/dialect.ts";
import { openPostgresDatabase } from "../../src/postgres/database.ts";
import { dialect as postgresDialect } from "../../src/postgres/dialect.ts";
import { SLICE_ROWS } from "../../src/repositories/slices.ts";
import { importedQuery, totalsQuery } from "../../src/repositories/user-counts.ts";
import { matchesQuery, searchQueries, type UserSearch } from "../../src/repositories/user-search.ts";
import { openLibsqlTestDatabase } from "../support/libsql-database.ts";
import { openPostgresTestDatabase } from "../support/postgres-database.ts";
import { caseConformance } from "../support/search-conformance.ts";
import { createTest, errorOf, openTestDatabase } from "../support/test-database.ts";

const server = await sharedPostgresServer();

const USERS = 20_000;
const LIMIT = 21;

/** How libsql reads users: by which index, and from where to where. */
const BY_ID = "USING INTEGER PRIMARY KEY (rowid>?";
const PREFIX = /users_email_unique.*users_username_prefix/;
const SEARCHES: readonly (readonly [from: string, isSliced: boolean, request: Partial<UserSearch>])[] = [
  [BY_ID, false, {}],
  ["users_inactive_index (id>?", false, { isActive: false }],
  [BY_ID, true, { isActive: true }],
  ["users_roles_index (id>?", true, { role: "admin" }],
  ["users_roles_index (id>?", true, { role: "admin", isActive: false, isWithoutPassword: true }],
  ["users_imported_index (id>?", true, { isWithoutPassword: true, isActive: false }],
  ["users_imported_index (id>?", true, { isImported: true }],
  [BY_ID, true, { isWithoutPassword: false }],
  [BY_ID, true, { search: "user" }],
  [BY_ID, true, { search: "nobody", role: undefined, isActive: true }],
  [BY_ID, true, { domain: "example.org" }],
  [BY_ID, true, { contains: "nobody" }],
];

interface Statement {
  toSQL(): { readonly sql: string; readonly params: unknown[] };
}

const formsOf = (text: string | undefined) =>
  text === undefined ? undefined : { emails: [text], usernames: [text, text.toUpperCase()] };

/** Every statement of the searches and the counts, with values that make it read as many rows as it can. */
function statementsOf(orm: Orm, dialect: Dialect) {
  const fill = (statement: Statement, until = 0) => {
    const { sql, params } = statement.toSQL();
    return { sql, params: fillPlaceholders(params, { after: 0, until, rows: SLICE_ROWS, limit: LIMIT }) };
  };
  const searches = SEARCHES.map(([from, isSliced, request]) => {
    const texts = { search: formsOf(request.search), contains: formsOf(request.contains), isCommon: true };
    const { slice, page } = searchQueries(orm, dialect, { after: 0, limit: LIMIT, ...request }, texts);
    return { from, isSliced, slice: slice && fill(slice), page: (until: number) => fill(page, until) };
  });
  const rare = ["email", "search"].map((name) =>
    fill(
      searchQueries(
        orm,
        dialect,
        { after: 0, limit: LIMIT, [name]: "user19999", role: "b", isActive: false },
        { search: name === "search" ? formsOf("user19999") : undefined, isCommon: false },
      ).page,
    ),
  );
  const counts = [totalsQuery(orm, dialect, 60), importedQuery(orm, dialect)].map((count) => fill(count));
  return {
    searches,
    rare,
    matches: fill(matchesQuery(orm, dialect, { emails: ["user"], usernames: ["user", "uSER"] })),
    counts,
  };
}

test("libsql reads the users of each search and count by an index, from one id to another", async () => {
  await using opened = await openLibsqlTestDatabase();
  const database = new Database(opened.path);
  const plan = ({ sql, params }: { readonly sql: string; readonly params: unknown[] }) =>
    database
      .prepare(`explain query plan ${sql}`)
      .all(params)
      .map((row) => Object.values(row ?? {}).at(-1))
      .join("; ");
  const { searches, rare, matches, counts } = statementsOf(
    createOrm(() => []),
    libsqlDialect,
  );
  for (const { from, isSliced, slice, page } of searches) {
    if (slice) expect(plan(slice)).toContain(`${from})`);
    expect(plan(page(9))).toContain(`${from}${isSliced ? " AND " : ")"}`);
    expect(slice !== null).toBe(isSliced);
  }
  const [email = "", search = ""] = rare.map(plan);
  expect(email).toContain("users_email_unique (email=?");
  for (const indexed of [search, plan(matches)]) expect(indexed).toMatch(PREFIX);
  expect(search).toContain("USING INTEGER PRIMARY KEY (rowid=?)");
  expect(counts.map(plan)).toEqual([
    expect.stringContaining(`${BY_ID})`),
    expect.stringContaining("users_imported_index (id>?)"),
  ]);
  database.close();
});

interface Plan {
  readonly "Node Type": string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
}

/** The rows of tables and indexes that a statement has read. */
const rowsRead = (plan: Plan): number =>
  (plan["Node Type"].includes("Scan") && plan["Node Type"] !== "Subquery Scan"
    ? plan["Actual Loops"] * (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0))
    : 0) + (plan.Plans ?? []).reduce((sum, one) => sum + rowsRead(one), 0);

describe.each([
  ["nobody matches", "'none'", "true", "'[\"b\"]'"],
  ["everybody matches the index", "'$2b$x'", "false", "'[\"b\"]'"],
  ["few match the index", "null", "i % 5000 > 0", "case when i % 5000 > 0 then '[]' else '[\"b\"]' end"],
])("PostgreSQL, where %s,", (_, importedHash, isActive, roles) => {
  test("reads no more rows than a slice in each statement of the searches and counts", async () => {
    await using opened = await openPostgresTestDatabase(server);
    await opened.query(
      `insert into users (email, username, hashed_password, imported_hash, is_active, roles)
       select 'user' || i || '@example.com', 'User' || i, 's$d', ${importedHash}, ${isActive}, ${roles} from generate_series(1, ${USERS}) i`,
    );
    await opened.query("vacuum analyze users");
    await using client = new SQL(opened.url, { max: 1 });
    const run = async ({ sql, params }: { readonly sql: string; readonly params: unknown[] }) => {
      const [row] = await client.unsafe(`explain (analyze, format json) ${sql}`, params);
      const [{ Plan: plan }] = row["QUERY PLAN"];
      return rowsRead(plan);
    };
    const { searches, rare, matches, counts } = statementsOf(
      drizzle(async () => ({ rows: [] })),
      postgresDialect,
    );
    const read: number[] = [];
    for (const { slice, page } of searches) {
      const [end] = slice ? await client.unsafe(slice.sql, slice.params) : [];
      if (slice) read.push(await run(slice));
      read.push(await run(page(Number(Object.values(end ?? {})[0] ?? 0))));
    }
    for (const statement of [...rare, ...counts]) read.push(await run(statement));
    for (const rows of read) expect(rows).toBeLessThanOrEqual(SLICE_ROWS + 1);
    expect(await run(matches)).toBeLessThanOrEqual(SLICE_ROWS + 2);
  });
});

describe("on a Turkish database", () => {
  caseConformance(
    createTest(async () => {
      const name = `turkish_${randomUUID()}`;
      await server.query(
        `create database "${name}" owner latchkey template template0 locale_provider icu icu_locale 'tr'`,
      );
      const url = new URL(await server.createDatabase());
      url.pathname = name;
      const reopen = async () => openPostgresDatabase({ url: url.href });
      return openTestDatabase({ url: url.href, reopen, query: (sql) => server.query(sql, url.href) });
    }),
  );
});

createTest(openLibsqlTestDatabase)(
  "the event loop has a turn after each slice of a search and of a count, and an aborted search stops",
  async ({ users, outbox, query }) => {
    await query(`insert into users (email, username, hashed_password, imported_hash, roles)
      with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < ${5 * SLICE_ROWS})
      select i || '@example.com', i, 's$d', '$2b$x', '["b"]' from numbers`);
    await query("insert into outbox (kind, user_id) select 'password', id from users");
    const turnsDuring = async (work: () => Promise<unknown>) => {
      let turns = 0;
      const turn = () => {
        turns += 1;
        immediate = setImmediate(turn);
      };
      let immediate = setImmediate(turn);
      await work();
      clearImmediate(immediate);
      return turns;
    };
    const page = { after: 0, limit: LIMIT };
    for (const work of [
      () => users.list({ ...page, role: "absent" }),
      () => users.list({ ...page, isWithoutPassword: true }),
      () => users.list({ ...page, search: "1", contains: "nobody" }),
      () => users.countTotals(60),
      () => users.countImported(String),
      () => outbox.count(),
    ])
      expect(await turnsDuring(work)).toBeGreaterThanOrEqual(5);
    const stop = new AbortController();
    const search = users.list({ ...page, role: "absent" }, stop.signal);
    stop.abort(new RangeError("stopped"));
    expect(await errorOf(search)).toEqual(new RangeError("stopped"));
  },
);
