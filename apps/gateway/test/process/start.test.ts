/** The process from its first line to the ones that keep it from starting, each with its exit code. */
import { describe, expect, test } from "bun:test";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { post, startProcess } from "@latchkey/testing/service-process";

const PERSON = { email: "ada@example.org", username: "ada", password: "correct horse battery" };

test("it says once, in JSON, that it is ready, and serves at the URL it names", async () => {
  await using folder = await openFolder();
  await using service = startProcess({ DATABASE_URL: folder.databaseUrl });
  const url = await service.ready();
  expect(service.lines).toMatchObject([
    {
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
      msg: "ready",
      url,
      docs: `${url}/docs`,
      database: "libsql",
      kernel: expect.any(String),
    },
  ]);
  for (const path of ["/healthz", "/readyz", "/docs"]) expect((await fetch(url + path)).status).toBe(200);
});

test("with LOG_FORMAT=pretty the line is for people, and still names the URL", async () => {
  await using folder = await openFolder();
  const env = { PORT: "0", DATABASE_URL: folder.databaseUrl, LOG_FORMAT: "pretty" };
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../../src/main.ts")], {
    env,
    stdout: "pipe",
  });
  const { value } = await child.stdout.getReader().read();
  child.kill();
  expect(new TextDecoder().decode(value)).toMatch(/ready[\s\S]*http:\/\/127\.0\.0\.1:\d+/);
  expect(await child.exited).toBe(0);
});

describe("what keeps it from starting is told on stderr, without a stack, by an exit code of its own", () => {
  const refusal = async (env: Record<string, string>) => {
    await using service = startProcess(env);
    const { code, stderr } = await service.ended();
    expect(stderr).not.toMatch(/^\s+at |node_modules|\.ts:\d/m);
    expect(service.lines.filter(({ msg }) => msg === "ready")).toEqual([]);
    return { code, lines: stderr.trimEnd().split("\n") };
  };

  test("78: every fault of the configuration at once, a line each, no secret repeated", async () => {
    const { code, lines } = await refusal({
      NODE_ENV: "production",
      PORT: "http",
      AUTH_SECRET_KEY: "hunter2hunter2",
      RATE_LIMIT_LOGIN: "5/day",
      TRUST_PROXY: "-1",
    });
    expect(code).toBe(78);
    const names = lines.map((line) => line.split(":")[0]);
    expect(names.sort()).toEqual([
      "AUTH_SECRET_KEY",
      "DATABASE_URL",
      "PORT",
      "RATE_LIMIT_LOGIN",
      "TRUST_PROXY",
    ]);
    expect(lines.join("\n")).not.toContain("hunter2");
  });

  test("69: a database that cannot be opened", async () => {
    await using folder = await openFolder();
    const file = join(folder.path, "a-file");
    await Bun.write(file, "no folder");
    const { code, lines } = await refusal({ DATABASE_URL: `file:${file}/x.db`, AUTH_SECRET_KEY: "given" });
    expect(code).toBe(69);
    expect(lines).toHaveLength(1);
  });

  test("69: a file that is no database", async () => {
    await using folder = await openFolder();
    await Bun.write(join(folder.path, "latchkey.db"), "This is a letter, not a database. ".repeat(100));
    const { code, lines } = await refusal({ DATABASE_URL: folder.databaseUrl });
    expect(code).toBe(69);
    expect(lines).toHaveLength(1);
  });

  test("78: a key that cannot be kept", async () => {
    await using folder = await openFolder();
    const file = join(folder.path, "a-file");
    await Bun.write(file, "no folder");
    const { code, lines } = await refusal({ DATABASE_URL: `file:${file}/x.db` });
    expect(code).toBe(78);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toStartWith("AUTH_SECRET_KEY: ");
  });

  test("71: a port that is taken", async () => {
    await using folder = await openFolder();
    await using first = startProcess({ DATABASE_URL: folder.databaseUrl });
    const { port } = new URL(await first.ready());
    const { code, lines } = await refusal({ DATABASE_URL: folder.databaseUrl, PORT: port });
    expect(code).toBe(71);
    expect(lines).toEqual([expect.stringContaining(`PORT ${port}`)]);
    expect((await fetch(`${await first.ready()}/healthz`)).status).toBe(200);
  });

  test("71: an address that is not this machine's", async () => {
    await using folder = await openFolder();
    const { code } = await refusal({ DATABASE_URL: folder.databaseUrl, HOST: "192.0.2.1" });
    expect(code).toBe(71);
  });
});

test("several that start at once on one fresh folder share its key and its database", async () => {
  await using folder = await openFolder();
  const env = { DATABASE_URL: folder.databaseUrl, RATE_LIMIT_ENABLED: "false" };
  await using first = startProcess(env);
  await using second = startProcess(env);
  await using third = startProcess(env);
  const urls = await Promise.all([first.ready(), second.ready(), third.ready()]);
  expect(new Set(urls).size).toBe(3);
  const [one = "", ...others] = urls;
  expect((await post(`${one}/auth/register`, PERSON)).status).toBe(201);
  for (const url of others) {
    const login = await post(`${url}/auth/login`, PERSON);
    const { access_token } = (await login.json()) as { access_token: string };
    const me = await fetch(`${one}/auth/me`, { headers: { authorization: `Bearer ${access_token}` } });
    expect(me.status).toBe(200);
  }
  const key = await stat(join(folder.path, "auth-secret-key"));
  expect(key.mode & 0o777).toBe(0o600);
  expect((await readdir(folder.path)).filter((name) => name.startsWith(".secret-key"))).toEqual([]);
});
