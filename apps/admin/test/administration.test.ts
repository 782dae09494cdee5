/** An operator's day with two replicas on PostgreSQL: each task has the same effect and log line in the tool and over HTTP. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { PATIENT_HASHING, post, request, startProcess } from "@latchkey/testing/service-process";
import { runTool } from "./support/tool.ts";

setDefaultTimeout(180_000);

const KEY = "k".repeat(32);
const PASSWORD = "correct horse battery staple";
const REASON = "ticket 42";

interface Way {
  /** Runs the task of this name and returns whether it succeeded, or its error code. */
  readonly run: (task: string) => Promise<string>;
  /** The log lines of changes so far. */
  readonly events: () => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

const TASKS = ["create", "verify", "promote", "ban", "unban", "move", "revoke", "reset", "delete", "delete"];

test("an operator's day has the same effects, errors and log lines in the tool and over HTTP", async () => {
  await using server = await startPostgresServer();
  const url = await server.createDatabase();
  const env = { DATABASE_URL: url, AUTH_SECRET_KEY: SECRET_KEY, RATE_LIMIT_ENABLED: "false" };
  const administration = { ADMIN_PORT: "0", ADMIN_API_KEYS: `shop:${KEY}` };
  await using first = startProcess({ ...PATIENT_HASHING, ...env, ...administration });
  const publicUrl = await first.ready();
  await using second = startProcess({ ...PATIENT_HASHING, ...env, ...administration });
  await second.ready();
  const admin = String((await second.line("ready")).administration);

  const call = async (method: string, path: string, body?: object) => {
    const response = await request(admin + path, { method, token: KEY, ...(body && { body }) });
    const parsed = response.status === 204 || response.status === 202 ? {} : await response.json();
    return { isOk: response.ok, ...(parsed as { id?: number; code?: string }) };
  };

  const openHttp = (name: string): Way => {
    let id = 0;
    const email = `${name}@example.org`;
    const tasks: Readonly<Record<string, () => ReturnType<typeof call>>> = {
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
        id ||= result?.id ?? 0;
        return result?.isOk ? "done" : String(result?.code);
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
        const args = ["users", ...(tasks[task]?.() ?? []), "--reason", REASON, "--json"];
        const input = task === "create" ? { input: `${PASSWORD}\n` } : {};
        const { code, stdout, stderr } = await runTool(args, { env, ...input });
        const lines = stderr.split("\n").filter((line) => line.startsWith("{"));
        const last = JSON.parse(lines.at(-1) ?? "{}");
        if (code !== 0) return String(last.code);
        events.push(last);
        id ||= String(JSON.parse(stdout).id);
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
    ["create", "done", 200],
    "EMAIL_NOT_VERIFIED",
    ["verify", "done", 200],
    ["promote", "done", 200],
    ["ban", "done", 403],
    ["unban", "done", 401],
    ["move", "done", 401],
    ["revoke", "done", 401],
    ["reset", "done", 401],
    ["delete", "done", 404],
    ["delete", "USER_NOT_FOUND", 404],
  ]);
});
