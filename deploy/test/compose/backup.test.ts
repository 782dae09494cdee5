/** The commands of docs/production.md back up PostgreSQL while the service runs, and restore it. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { ROOT } from "@latchkey/testing/repository";
import { runProcess } from "@latchkey/testing/run-process";
import { PATIENT_HASHING, post, request, startProcess } from "@latchkey/testing/service-process";
import { SECRET } from "../configuration.ts";

/** Debian's server, because the binaries from npm lack the client programs. */
const SERVERS = "/usr/lib/postgresql";
const versions = existsSync(SERVERS) ? readdirSync(SERVERS) : [];
const programs = versions
  .map((name) => join(SERVERS, name))
  .find((path) => existsSync(join(path, "bin/pg_dump")));
if (programs === undefined) process.stderr.write("PostgreSQL is not installed: backups are not tested.\n");
const backupTest = inFullRun(test.skipIf(programs === undefined && !process.env.CI));

const guide = await Bun.file(join(ROOT, "docs/production.md")).text();
const commandOf = (program: string): string => {
  const pattern = String.raw`^docker compose exec -T postgres (${program} (?:.*\\\n)?.*?)(?:\)| &&)$`;
  return new RegExp(pattern, "m").exec(guide)?.[1] ?? "";
};

const account = { email: "ada@example.com", username: "ada", password: "correct horse battery staple" };

backupTest(
  "a dump of a running service restores a deleted user; nobody gets the id of a later user, or can use an earlier token",
  async () => {
    await using folder = await openFolder();
    await using server = await startPostgresServer({}, undefined, programs);
    const DATABASE_URL = (await server.createDatabase()).replace(/[^/]*$/, "latchkey");
    await server.query("create database latchkey owner latchkey");
    // In the container, the programs connect to its socket without a password.
    const connection = { PGHOST: "127.0.0.1", PGPORT: String(server.port), PGPASSWORD: "latchkey" };
    const run = (command: string) => {
      const { exitCode, stderr } = Bun.spawnSync(["sh", "-ec", command], {
        cwd: folder.path,
        env: { ...connection, PATH: `${programs}/bin:/usr/bin:/bin` },
      });
      expect([command, exitCode, stderr.toString()]).toEqual([expect.stringMatching(/^pg_/), 0, ""]);
    };
    const env = { ...PATIENT_HASHING, NODE_ENV: "production", DATABASE_URL, RATE_LIMIT_ENABLED: "false" };
    const start = (secret: string) => startProcess({ ...env, AUTH_SECRET_KEY: secret });

    const register = async (url: string, username: string): Promise<number> => {
      const user = { ...account, email: `${username}@example.com`, username };
      const response = await post(`${url}/auth/register`, user);
      return ((await response.json()) as { id: number }).id;
    };
    let [token, lost] = ["", 0];
    {
      await using gateway = start(SECRET);
      const url = await gateway.ready();
      expect((await post(`${url}/auth/register`, account)).status).toBe(201);
      const login = await post(`${url}/auth/login`, account);
      ({ access_token: token } = (await login.json()) as { access_token: string });
      run(commandOf("pg_dump"));
      expect((await request(`${url}/auth/me`, { method: "DELETE", token })).status).toBe(204);
      lost = await register(url, "lost");
      gateway.signal("SIGTERM");
      expect((await gateway.ended()).code).toBe(0);
    }
    run(commandOf("pg_restore"));
    expect(guide).toContain(" gateway bun apps/admin/src/main.ts raise-ids &&");
    const raised = await runProcess([process.execPath, "apps/admin/src/main.ts", "raise-ids"], {
      cwd: ROOT,
      env: { DATABASE_URL },
    });
    expect(raised).toMatchObject({ code: 0, stdout: expect.stringContaining("ids above 1000001") });
    await using restored = start([...SECRET].reverse().join(""));
    const url = await restored.ready();
    expect((await request(`${url}/auth/me`, { token })).status).toBe(401);
    expect((await post(`${url}/auth/login`, account)).status).toBe(200);
    expect([lost, await register(url, "mallory")]).toEqual([2, 1_000_002]);
  },
);
