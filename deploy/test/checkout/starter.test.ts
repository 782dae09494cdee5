/** The starter of the documents, as a user gets it: by the commands of docs/starter.md, outside of a new copy of this checkout. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, globSync, writeFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { browserTest, DESKTOP, openBrowser, type Page } from "@latchkey/testing/chromium";
import { openFolder, type TemporaryFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { runProcess } from "@latchkey/testing/run-process";
import { freePort, readUntil } from "@latchkey/testing/server-process";
import { copyCheckout } from "./copy.ts";
import { EMAIL, PASSWORD, request, sessionOf } from "./starter-session.ts";

const [faketime = ""] = globSync("/usr/lib/*/faketime/libfaketimeMT.so.1");

/** The second newest mail and older ones do not matter: the mails of a user arrive one after the other. */
async function mailed(outbox: string, pattern: RegExp): Promise<string> {
  for (;;) {
    const names = (await readdir(outbox)).sort();
    const mail = names.length > 0 ? await Bun.file(join(outbox, names.at(-1) ?? "")).text() : "";
    const [found] = pattern.exec(mail) ?? [];
    if (found) return found;
    await Bun.sleep(20);
  }
}

async function logIn(page: Page): Promise<void> {
  await page.locator("#email").waitFor();
  await page.waitForLoadState("networkidle");
  await page.locator("#email").fill(EMAIL);
  await page.locator("#password").fill(PASSWORD);
  await page.keyboard.press("Enter");
}

inFullRun(describe)("the starter", () => {
  let checkout: string;
  let home: TemporaryFolder;

  /** Runs commands of the document in bash. */
  const run = async (script: string, cwd: string, env: Readonly<Record<string, string>> = {}) => {
    const variables = {
      ...process.env,
      HOME: home.path,
      npm_config_cache: CACHE,
      LATCHKEY: checkout,
      ...env,
    };
    const { code, stdout, stderr } = await runProcess(["bash", "-ec", script], { cwd, env: variables });
    if (code !== 0) throw new Error(`${script} failed:\n${stdout}${stderr}`);
    return stdout;
  };
  const CACHE = process.env.npm_config_cache ?? join(process.env.HOME ?? "", ".npm");
  const starter = () => join(home.path, "starter");

  beforeAll(async () => {
    [checkout, home] = await Promise.all([copyCheckout(), openFolder()]);
    const document = await Bun.file(join(checkout, "docs/starter.md")).text();
    const [, commands = ""] = /```sh\n([\s\S]+?)npm start\n```/.exec(document) ?? [];
    await run(commands, checkout);
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await rm(checkout, { recursive: true, force: true });
  });

  /** Runs `npm start` until it is stopped. */
  async function start(env: Readonly<Record<string, string>> = {}) {
    const [port, apiPort] = [freePort(), freePort()];
    const ports = { PORT: String(port), API_PORT: String(apiPort) };
    const variables = { ...process.env, LATCHKEY: checkout, ...ports, ...env };
    const program = Bun.spawn(["node", "start.mjs"], {
      cwd: starter(),
      env: variables,
      stdout: "pipe",
      stderr: "inherit",
    });
    const output = await readUntil(program.stdout, "/outbox\n");
    const [, outbox = ""] = /Mails: (.+)\n/.exec(output) ?? [];
    return {
      app: `http://localhost:${port}`,
      outbox,
      async [Symbol.asyncDispose]() {
        program.kill();
        await program.exited;
      },
    };
  }

  test("passes its own tests, and its page can be built", async () => {
    const ports = { PORT: String(freePort()), API_PORT: String(freePort()) };
    // Of a service of one's own beside it: its tests do not use them.
    await Bun.write(join(checkout, ".env"), "AUTH_PRIVATE_KEY_FILE=auth-private.pem\n");
    const output = await run("node --test", starter(), { ...ports, RATE_LIMIT_ENABLED: "false" });
    await rm(join(checkout, ".env"));
    expect(output).toContain("# fail 0");
    await run("npm run build", starter());
    expect(existsSync(join(starter(), "dist/index.html"))).toBe(true);
  });

  test("the resource server ends if its port is in use: otherwise, another program would get the tokens", async () => {
    using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const env = { ...process.env, API_PORT: String(other.port) };
    const options = { cwd: starter(), env, stdout: "pipe", stderr: "ignore" } as const;
    await using api = Bun.spawn(["node", "api.mjs"], options);
    expect((await api.stdout.getReader().read()).done).toBe(true);
    expect(await api.exited).toBe(1);
  });

  browserTest("in a browser: login, roles, an invitation, and a second factor for one route", async () => {
    const { codeOf } = await import(join(starter(), "totp.mjs"));
    await using program = await start();
    await using browser = await openBrowser();
    const { page, faults } = await browser.visit(program.app, DESKTOP);
    await page.getByRole("link", { name: "Log in" }).click();
    await logIn(page);
    // Exactly: the page of a second factor also has "Return to Starter without it".
    const back = page.getByRole("link", { name: "Return to Starter", exact: true });
    await back.click();
    await page.getByText("ada, plan free, roles: admin").waitFor();
    await page.getByLabel("Note").fill("Tea");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByText("Done").waitFor();
    await page.getByRole("link", { name: "Users" }).click();
    await page.getByText("1 of them have notes").waitFor();
    await page.getByLabel("E-mail").fill("grace@example.com");
    await page.getByRole("button", { name: "Invite" }).click();
    await page.getByText("Done").waitFor();
    // The event arrives a moment later.
    while (!(await page.getByText("grace@example.com").isVisible()))
      await page.reload({ waitUntil: "networkidle" });
    await page.getByRole("link", { name: "Notes" }).click();

    await page.getByRole("button", { name: "Delete all notes" }).click();
    await logIn(page);
    await page.fill("#factor-current", PASSWORD);
    await page.keyboard.press("Enter");
    await page.getByRole("img", { name: "QR code" }).waitFor();
    const secret = (await page.locator("#factor-secret").textContent())?.replaceAll(" ", "") ?? "";
    await page.fill("#factor-new-code", codeOf(secret));
    await page.fill("#factor-email-code", await mailed(program.outbox, /^\d{8}(?=\r?$)/m));
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "I have saved them" }).click();
    await back.click();
    await page.getByText("Tea").waitFor();
    await page.getByRole("button", { name: "Delete all notes" }).click();
    await page.getByText("Tea").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("link", { name: "Log in" }).waitFor();
    expect(faults.filter((fault) => fault.startsWith("thrown"))).toEqual([]);
  });

  test.skipIf(faketime === "" && !process.env.CI)("a session goes on after a pause of days", async () => {
    const clock = join(home.path, "clock");
    writeFileSync(clock, "+0s");
    const shifted = { LD_PRELOAD: faketime, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_NO_CACHE: "1" };
    await using program = await start({ ...shifted, DONT_FAKE_MONOTONIC: "1" });
    const session = await sessionOf(program.app);
    const statusOf = async () => (await request(program.app, "/api/me", session)).status;
    expect(await statusOf()).toBe(200);
    writeFileSync(clock, "+60h");
    expect(await statusOf()).toBe(200);
    writeFileSync(clock, "+140h");
    expect(await statusOf()).toBe(401);
  });

  test("the client is installed and used as the README says", async () => {
    const readme = await Bun.file(join(checkout, "README.md")).text();
    const [, section = ""] = /^## In your application$(.+?)^## /ms.exec(readme) ?? [];
    const [commands = "", program = ""] = [...section.matchAll(/```\w+\n(.+?)```/gs)].map(([, code]) => code);
    await run(commands, checkout);
    await using service = Bun.spawn([process.execPath, "start", "--ephemeral"], {
      cwd: checkout,
      stdout: "pipe",
      stderr: "ignore",
    });
    const { url } = JSON.parse(await readUntil(service.stdout, "\n"));
    expect(program).toContain("http://127.0.0.1:3000");
    const project = join(home.path, "my-app");
    await Bun.write(join(project, "login.mjs"), program.replace("http://127.0.0.1:3000", url));
    expect(await run("node login.mjs", project)).toContain("username: 'grace'");
  });

  test("the document's page works with the document's service on PostgreSQL", async () => {
    const document = await Bun.file(join(checkout, "docs/starter.md")).text();
    const blocksOf = (heading: string) => {
      const [, section = ""] = new RegExp(`^## ${heading}$(.+?)^## `, "ms").exec(document) ?? [];
      return [...section.matchAll(/```\w+\n(.+?)```/gs)].map(([, code = ""]) => code);
    };
    const edit = async (file: string, ...changes: readonly (readonly [string, string])[]) => {
      let text = await Bun.file(join(starter(), file)).text();
      for (const [before, after] of changes) {
        expect(text).toContain(before);
        text = text.replace(before, () => after);
      }
      await Bun.write(join(starter(), file), text);
    };
    const [data = "", routes = "", html = "", page = "", forms = ""] = blocksOf("A page of your own");
    const anchors = ["void followUsers((id) => notes.delete(id));\n", 'app.post("/invitations"'] as const;
    await edit("api.mjs", [anchors[0], data], [anchors[1], routes + anchors[1]]);
    await edit("index.html", ['<section data-page="/users"', `${html}<section data-page="/users"`]);
    await edit(
      "app.mjs",
      ['  async "/users"', `${page}  async "/users"`],
      ['onSubmit("add"', `${forms}onSubmit("add"`],
    );
    await run("npm run build", starter());

    await using postgres = await startPostgresServer();
    const [port, adminPort, apiPort, appPort] = [freePort(), freePort(), freePort(), freePort()].map(String);
    const [, commands = ""] = blocksOf("With your own service");
    const block = commands
      .replace("postgres://latchkey:PASSWORD@127.0.0.1/latchkey", await postgres.createDatabase())
      .replaceAll("3000", port ?? "")
      .replaceAll("3001", adminPort ?? "")
      .replaceAll("8080", appPort ?? "")
      .replace("npx -y bun@1.4.5 start", "");
    await edit("service.env", ["localhost:8080", `localhost:${appPort}`]);
    await run(block, checkout);
    const [url, app] = [`http://127.0.0.1:${port}`, `http://localhost:${appPort}`];
    const launch = (command: string[], cwd: string, env: Readonly<Record<string, string>>) =>
      Bun.spawn(command, { cwd, env: { ...process.env, ...env }, stdout: "pipe", stderr: "inherit" });
    const publicUrl = `http://localhost:${port}`;
    const ofService = { PORT: port ?? "", PUBLIC_URL: publicUrl, AUTH_ISSUER: publicUrl };
    await using service = launch([process.execPath, "start"], checkout, ofService);
    await readUntil(service.stdout, '"ready"');
    const addresses = {
      LATCHKEY_URL: url,
      LATCHKEY_PUBLIC_URL: publicUrl,
      LATCHKEY_ADMIN_URL: `http://127.0.0.1:${adminPort}`,
    };
    const ofServers = { ...addresses, API_URL: `http://127.0.0.1:${apiPort}`, API_PORT: apiPort ?? "" };
    await using api = launch(["node", "--env-file=.env", "api.mjs"], starter(), ofServers);
    const production = { ...ofServers, NODE_ENV: "production", PORT: appPort ?? "" };
    await using server = launch(["node", "server.mjs"], starter(), production);
    await Promise.all([api, server].map(({ stdout }) => readUntil(stdout, "Listening")));

    const body = JSON.stringify({ email: EMAIL, username: "ada", password: PASSWORD });
    const headers = { "content-type": "application/json" };
    await fetch(`${url}/auth/register`, { method: "POST", headers, body });
    const init = { method: "POST", body: JSON.stringify({ url: "https://example.com" }) };
    expect((await request(app, "/api/links", await sessionOf(app), init)).status).toBe(403);
    await run(`npx -y bun@1.4.5 run admin users set-roles ${EMAIL} editor --unverified`, checkout);
    const session = await sessionOf(app);
    expect((await request(app, "/api/links", session, init)).status).toBe(201);
    expect(await (await request(app, "/api/links", session)).json()).toEqual(["https://example.com"]);
    const refused = await request(app, "/api/links", session, { method: "DELETE" });
    expect(refused.headers.get("www-authenticate")).toContain('acr_values="2fa", max_age=60');
    expect(await (await request(app, "/links")).text()).toContain('data-page="/links"');
    expect((await request(app, "/account")).headers.get("location")).toBe(`${publicUrl}/account`);
    // What the page shows if the resource server does not run.
    api.kill();
    await api.exited;
    const unavailable = await request(app, "/api/links", session);
    expect([unavailable.status, Object.keys((await unavailable.json()) as object)]).toEqual([
      503,
      ["detail"],
    ]);
  });
});
