/** The starter of the documents, as a user gets it: by the commands of docs/starter.md, outside of a new copy of this checkout. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, globSync, writeFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { browserTest, DESKTOP, openBrowser, type Page } from "@latchkey/testing/chromium";
import { openFolder, type TemporaryFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { runProcess } from "@latchkey/testing/run-process";
import { freePort, readUntil } from "@latchkey/testing/server-process";
import { copyCheckout } from "./copy.ts";

/** Long enough to download every package. */
const EMAIL = "ada@example.com";
const PASSWORD = "correct horse battery staple";
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

  browserTest("in a browser: login, roles, an invitation, and a second factor for one route", async () => {
    const { codeOf } = await import(join(starter(), "totp.mjs"));
    await using program = await start();
    await using browser = await openBrowser();
    const { page, faults } = await browser.visit(program.app, DESKTOP);
    await page.getByRole("link", { name: "Log in" }).click();
    await logIn(page);
    const back = page.getByRole("link", { name: "Return to Starter" });
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
    const get = (path: string, cookie = "") =>
      fetch(program.app + path, { headers: { cookie }, redirect: "manual" });
    const cookieOf = (response: Response, name: string) =>
      response.headers
        .getSetCookie()
        .find((cookie) => cookie.includes(name))
        ?.split(";")[0] ?? "";

    const begun = await get("/login");
    const { origin, searchParams } = new URL(begun.headers.get("location") ?? "");
    const post = async (path: string, body: object, token = ""): Promise<Record<string, string>> => {
      const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
      const response = await fetch(origin + path, { method: "POST", headers, body: JSON.stringify(body) });
      return response.json() as Promise<Record<string, string>>;
    };
    const { access_token = "" } = await post("/auth/login", { email: EMAIL, password: PASSWORD });
    const { state = "", ...request } = Object.fromEntries(searchParams);
    const { code = "" } = await post("/auth/authorize", request, access_token);
    const query = new URLSearchParams({ state, code });
    const session = cookieOf(await get(`/callback?${query}`, cookieOf(begun, "login")), "session");
    expect((await get("/api/me", session)).status).toBe(200);
    writeFileSync(clock, "+60h");
    expect((await get("/api/me", session)).status).toBe(200);
    writeFileSync(clock, "+140h");
    expect((await get("/api/me", session)).status).toBe(401);
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
});
