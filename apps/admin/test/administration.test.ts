/** An operator's day with two replicas on PostgreSQL: each task has the same effect and log line in the tool and over HTTP. */
import { expect, test } from "bun:test";
import type { AdminExplanation } from "@latchkey/contracts";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { startMailServer } from "@latchkey/testing/mail-server";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { PATIENT_HASHING, post, request, startProcess } from "@latchkey/testing/service-process";
import { sharedPostgresServer } from "@latchkey/testing/shared-postgres-server";
import { runTool } from "./support/tool.ts";

const KEY = "k".repeat(32);
const PASSWORD = "correct horse battery staple";
const REASON = "ticket 42";

/** An explanation without what differs between users and runs. */
const neutral = (explanation: unknown, id: number | string, name: string): string =>
  (explanation as AdminExplanation)
    .map(({ message, command = "" }) => `${message} ${command}`)
    .join("\n")
    .replaceAll(new RegExp(`\\b${id}$`, "gm"), "ID")
    .replaceAll(name, "NAME")
    .replace(/at 2\S+Z/, "at TIME");

interface Way {
  /** Runs the task of this name and returns whether it succeeded, or its error code. */
  readonly run: (task: string) => Promise<string>;
  /** The log lines of changes so far. */
  readonly events: () => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

const TASKS = [
  ...["invite", "create", "verify", "promote", "ban", "explain", "unban", "move"],
  ...["explain", "revoke", "reset", "delete", "delete", "explain"],
];

inFullRun(test)(
  "an operator's day has the same effects, errors and log lines in the tool and over HTTP",
  async () => {
    const server = await sharedPostgresServer();
    const url = await server.createDatabase();
    await using mails = await startMailServer();
    const env = {
      DATABASE_URL: url,
      AUTH_SECRET_KEY: SECRET_KEY,
      RATE_LIMIT_ENABLED: "false",
      MAIL_URL: mails.url,
      MAIL_FROM: "accounts@example.org",
      PUBLIC_URL: "https://accounts.example.org",
    };
    /** The status of the response to the guest's choice of a password with the link of the mail. */
    const acceptInvitation = async (email: string) => {
      for (let count = 1; ; count++) {
        const mail = (await mails.waitFor(count)).find(({ recipients }) => recipients.includes(email));
        if (!mail) continue;
        const body = { token: mail.token, password: PASSWORD };
        return (await post(`${publicUrl}/auth/password-reset/confirm`, body)).status;
      }
    };
    const administration = { ADMIN_PORT: "0", ADMIN_API_KEYS: `shop:${KEY}` };
    await using first = startProcess({ ...PATIENT_HASHING, ...env, ...administration });
    const publicUrl = await first.ready();
    await using second = startProcess({ ...PATIENT_HASHING, ...env, ...administration });
    await second.ready();
    const admin = String((await second.line("ready")).administration);

    const call = async (method: string, path: string, body?: object) => {
      const response = await request(admin + path, { method, token: KEY, ...(body && { body }) });
      const parsed = response.status === 204 || response.status === 202 ? {} : await response.json();
      return { isOk: response.ok, body: parsed as { id?: number; code?: string } };
    };

    const openHttp = (name: string): Way => {
      let id = 0;
      const email = `${name}@example.org`;
      const tasks: Readonly<Record<string, () => ReturnType<typeof call>>> = {
        invite: () => call("POST", "/users", { email: `guest-${email}`, invite: true, reason: REASON }),
        explain: () => call("GET", `/users/${id}/explanation`),
        create: () => call("POST", "/users", { email, username: name, password: PASSWORD, reason: REASON }),
        promote: () => call("PATCH", `/users/${id}`, { roles: ["b", "a"], reason: REASON }),
        ban: () => call("PATCH", `/users/${id}`, { is_active: false, reason: REASON }),
        unban: () => call("PATCH", `/users/${id}`, { is_active: true, reason: REASON }),
        move: () => call("PATCH", `/users/${id}`, { email: `new-${email}`, reason: REASON }),
        revoke: () => call("DELETE", `/users/${id}/tokens?reason=ticket%2042`),
        reset: () => call("POST", `/users/${id}/password-reset?reason=ticket%2042`),
        delete: () => call("DELETE", `/users/${id}?reason=ticket%2042`),
      };
      return {
        run: async (task) => {
          const result = await tasks[task]?.();
          if (task === "create") id = result?.body.id ?? 0;
          if (!result?.isOk) return String(result?.body.code);
          return task === "explain" ? neutral(result.body, id, name) : "done";
        },
        events: async () =>
          second.lines.filter(({ actor, status }) => actor !== undefined && status === undefined),
      };
    };

    const openTool = (name: string): Way => {
      let id = "";
      const email = `${name}@example.org`;
      const events: Readonly<Record<string, unknown>>[] = [];
      const tasks: Readonly<Record<string, () => readonly string[]>> = {
        invite: () => ["invite", `guest-${email}`],
        explain: () => ["explain", id],
        create: () => ["create", email, "--username", name],
        promote: () => ["set-roles", id, "b", "a"],
        ban: () => ["deactivate", id],
        unban: () => ["activate", id],
        move: () => ["set-email", id, `new-${email}`],
        revoke: () => ["revoke-tokens", id],
        reset: () => ["send-reset", id],
        delete: () => ["delete", id, "--yes"],
      };
      return {
        run: async (task) => {
          const reason = task === "explain" ? [] : ["--reason", REASON];
          const args = ["users", ...(tasks[task]?.() ?? []), ...reason, "--json"];
          const input = task === "create" ? { input: `${PASSWORD}\n` } : {};
          const { code, stdout, stderr } = await runTool(args, { env, ...input });
          const lines = stderr.split("\n").filter((line) => line.startsWith("{"));
          const last = JSON.parse(lines.at(-1) ?? "{}");
          if (code !== 0) return String(last.code);
          if (task === "explain") return neutral(JSON.parse(stdout), id, name);
          events.push(last);
          if (task === "create") id = String(JSON.parse(stdout).id);
          return "done";
        },
        events: async () => events,
      };
    };

    /** The results of the tasks, and after each what the public API of the other replica answers to the user's token. */
    const spend = async (name: string, { run, events }: Way) => {
      const email = `${name}@example.org`;
      let token = "";
      const results: unknown[] = [];
      for (const task of TASKS) {
        // Only the owner of the mailbox verifies an e-mail.
        const result = task === "verify" ? "done" : await run(task);
        if (task === "verify") {
          results.push(await run("promote"));
          await server.query(`update users set email_verified = true where email = '${email}'`, url);
        }
        if (task === "invite") {
          results.push([task, result, await acceptInvitation(`guest-${email}`)]);
          continue;
        }
        if (task === "create") {
          const response = await post(`${publicUrl}/auth/login`, { email, password: PASSWORD });
          token = ((await response.json()) as { access_token: string }).access_token;
        }
        results.push([task, result, (await request(`${publicUrl}/auth/me`, { token })).status]);
      }
      const lines = (await events()).map(({ event, reason, roles, previous_roles }) => ({
        event,
        reason,
        roles,
        previous_roles,
      }));
      return { results, lines };
    };

    const viaTool = await spend("tool", openTool("tool"));
    const viaHttp = await spend("http", openHttp("http"));
    expect(viaHttp).toEqual(viaTool);
    expect(viaTool.results).toEqual([
      ["invite", "done", 204],
      ["create", "done", 200],
      "EMAIL_NOT_VERIFIED",
      ["verify", "done", 200],
      ["promote", "done", 200],
      ["ban", "done", 403],
      ["explain", expect.stringMatching(/^The user is inactive: .* bun run admin users activate ID\n/), 403],
      ["unban", "done", 401],
      ["move", "done", 401],
      [
        "explain",
        expect.stringMatching(/^The user has no password: .* users invite new-NAME@example.org\n/),
        401,
      ],
      ["revoke", "done", 401],
      ["reset", "done", 401],
      ["delete", "done", 404],
      ["delete", "USER_NOT_FOUND", 404],
      ["explain", "USER_NOT_FOUND", 404],
    ]);
  },
);

const hasRedis = Bun.which("redis-server") !== null;
if (!hasRedis) process.stderr.write("Tests with Redis are skipped: `redis-server` is not on the PATH.\n");

test.skipIf(!hasRedis && !process.env.CI).each(["Redis", "the memory of this replica"])(
  "an explanation states how long and where a user is limited, by what the public API counts in %s",
  async (counters) => {
    await using stack = new AsyncDisposableStack();
    const folder = stack.use(await openFolder());
    const redis = counters === "Redis" ? { REDIS_URL: stack.use(await startRedisServer()).url } : {};
    const env = { DATABASE_URL: folder.databaseUrl, AUTH_SECRET_KEY: SECRET_KEY, ...redis };
    const limits = {
      RATE_LIMIT_LOGIN: "100/minute",
      RATE_LIMIT_PASSWORD_CHANGE: "100/minute",
      TRUST_PROXY: "1",
    };
    const administration = { ADMIN_PORT: "0", ADMIN_API_KEYS: `shop:${KEY}` };
    const service = stack.use(startProcess({ ...PATIENT_HASHING, ...env, ...limits, ...administration }));
    const url = await service.ready();
    const users = `${(await service.line("ready")).administration}/users`;
    const create = async (username: string) => {
      const body = { email: `${username}@example.org`, username, password: PASSWORD };
      const response = await request(users, { method: "POST", token: KEY, body });
      return ((await response.json()) as { id: number }).id;
    };
    const [ada, bob] = [await create("ada"), await create("bob")];
    const logIn = (username: string, password: string, address = "192.0.2.1") =>
      request(`${url}/auth/login`, {
        method: "POST",
        body: { email: `${username}@example.org`, password },
        headers: { "x-forwarded-for": address },
      });
    const { access_token: token } = (await (await logIn("bob", PASSWORD)).json()) as { access_token: string };
    const change = { method: "PATCH", token, body: { current_password: "wrong password" } };
    // At once, because a worker computes several hashes in little more than the time of one.
    const guessOfAda = () => logIn("ada", "wrong password");
    const guessOfBob = () => logIn("bob", "wrong password", "198.51.100.7");
    const guessByBob = () => request(`${url}/auth/me`, change);
    const attempts = Array.from({ length: 10 }, async () => {
      expect((await guessOfAda()).status).toBe(401);
      await guessOfBob();
      expect((await guessByBob()).status).toBe(403);
    });
    await Promise.all(attempts);
    // While Redis responds too late, because the machine is busy, attempts are counted in memory.
    for (const guess of [guessOfAda, guessOfBob, guessByBob]) while ((await guess()).status !== 429);
    const explain = async (id: number) =>
      (await (await request(`${users}/${id}/explanation`, { token: KEY })).json()) as AdminExplanation;
    const others = ["passkeys", "identities", "last_login"];
    const [ofAda, ofBob] = [await explain(ada), await explain(bob)];
    expect(ofAda.map(({ code }) => code)).toEqual(["limited", ...others]);
    expect(ofAda[0]?.message).toContain(`429 TOO_MANY_REQUESTS for 15 minutes, according to ${counters}.`);
    expect(ofBob.map(({ code }) => code)).toEqual(["succeeds", "limited", "locked", ...others]);
    expect(ofBob[0]?.message).toContain("succeeds only from the user's networks of the last 30 days (1).");
    expect(ofBob[2]?.message).toContain(`429 TOO_MANY_REQUESTS for 24 hours, according to ${counters}.`);
    expect((await logIn("ada", PASSWORD)).status).toBe(429);
    expect((await request(`${url}/auth/me`, change)).status).toBe(429);
    const viaTool = async (id: number): Promise<AdminExplanation> =>
      JSON.parse((await runTool(["users", "explain", String(id), "--json"], { env })).stdout);
    const seen = [await viaTool(ada), await viaTool(bob)];
    if (counters === "Redis") expect(seen).toEqual([ofAda, ofBob]);
    else expect(seen.map(([, unknown]) => unknown?.code)).toEqual(["limits_unknown", "limits_unknown"]);
  },
);
