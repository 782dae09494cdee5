// What the starter promises, over HTTP, with a service of its own: `npm test`.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { after, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createClient } from "@latchkey/client";
import { admin, app, outbox, stop, url } from "./start.mjs";
import { codeOf } from "./totp.mjs";

after(stop);
const password = "correct horse battery staple";
let count = 0;

/** A user whose e-mail is verified, and a client that is logged in. */
async function createUser(changes = {}) {
  const username = `user${count++}`;
  const email = `${username}@example.com`;
  const user = await admin.createUser({ email, username, password, email_verified: true, ...changes });
  const client = createClient({ baseUrl: url });
  await client.login({ email, password });
  return { ...user, client };
}

/** A browser, which does at the login what the pages of the service do. */
function openBrowser() {
  const cookies = new Map();
  async function request(method, path, body) {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const headers = { cookie, "content-type": "application/json" };
    const init = { method, headers, body: body && JSON.stringify(body), redirect: "manual" };
    const response = await fetch(app + path, init);
    for (const set of response.headers.getSetCookie()) cookies.set(...set.split(";")[0].split("="));
    return response;
  }
  /** Returns what answers the callback. */
  async function logIn({ client }, path = "/login") {
    const login = await request("GET", path);
    const { state, ...query } = Object.fromEntries(new URL(login.headers.get("location")).searchParams);
    const { code } = await client.authorize(query);
    return request("GET", `/callback?${new URLSearchParams({ state, code })}`);
  }
  return { request, logIn, read: async (path) => (await request("GET", path)).json() };
}

async function visit(user) {
  const browser = openBrowser();
  await browser.logIn(user);
  return browser;
}

/** Account events arrive within two seconds. */
async function within2Seconds(isTrue) {
  for (const end = Date.now() + 2000; !(await isTrue()); await setTimeout(50))
    assert.ok(Date.now() < end, "not within two seconds");
}

/** Waits for a mail to the address, and returns what matches in it. */
async function mailed(email, pattern) {
  for (;;) {
    for (const name of (await readdir(outbox)).sort().reverse()) {
      const mail = await readFile(`${outbox}/${name}`, "utf8");
      // In a text that is not ASCII, long lines continue after `=`, and `=3D` is one (quoted-printable).
      const [found] = pattern.exec(mail.replace(/=\r?\n/g, "").replaceAll("=3D", "=")) ?? [];
      if (found && mail.includes(`To: ${email}`)) return found;
    }
    await setTimeout(50);
  }
}

test("roles and claims decide, and a visitor without a login gets 401", async () => {
  const [user, operator] = [
    await visit(await createUser({ claims: { plan: "pro" } })),
    await visit(await createUser({ roles: ["admin"] })),
  ];
  assert.equal((await openBrowser().request("GET", "/api/me")).status, 401);
  assert.equal((await user.read("/api/me")).plan, "pro");
  assert.equal((await user.request("GET", "/api/users")).status, 403);
  for (const text of ["a", "b", "c", "d"]) {
    const isFull = text === "d";
    assert.equal((await user.request("POST", "/api/notes", { text })).status, 201);
    assert.equal((await operator.request("POST", "/api/notes", { text })).status, isFull ? 403 : 201);
  }
  assert.deepEqual(await user.read("/api/notes"), ["a", "b", "c", "d"]);
});

test("a login returns to the page where it began, and to no other address", async () => {
  const user = await createUser();
  for (const [page, expected] of [
    ["/users", "/users"],
    ["//example.com", "/"],
    ["/\\example.com", "/"],
    ["https://example.com", "/"],
  ]) {
    const returned = await openBrowser().logIn(user, `/login?${new URLSearchParams({ page })}`);
    assert.equal(returned.headers.get("location"), expected);
  }
});

test("a visitor without an account begins with the registration", async () => {
  const login = await openBrowser().request("GET", "/login?prompt=create");
  assert.equal(new URL(login.headers.get("location")).searchParams.get("prompt"), "create");
});

test("an invited user sets a password, logs in, and is in the mirror", async () => {
  const operator = await visit(await createUser({ roles: ["admin"] }));
  const email = "invited@example.com";
  assert.equal((await operator.request("POST", "/api/invitations", { email })).status, 201);
  const token = await mailed(email, /(?<=#token=)[\w.-]+(?=\s)/);
  // Who has set the password finds the application by it.
  await mailed(email, new RegExp(`${app}(?=\\s)`));
  const client = createClient({ baseUrl: url });
  await client.confirmPasswordReset({ token, password });
  await client.login({ email, password });
  assert.equal((await (await visit({ client })).read("/api/me")).username, "invited");
  await within2Seconds(async () => (await operator.read("/api/users")).emails.includes(email));
});

test("who deletes the account is out of the mirror, and the notes are deleted", async () => {
  const operator = await visit(await createUser({ roles: ["admin"] }));
  const user = await createUser();
  const browser = await visit(user);
  const { authors } = await operator.read("/api/users");
  await browser.request("POST", "/api/notes", { text: "a" });
  assert.equal((await operator.read("/api/users")).authors, authors + 1);
  await user.client.deleteMe();
  await within2Seconds(async () => (await operator.read("/api/users")).authors === authors);
  assert.equal((await operator.read("/api/users")).emails.includes(user.email), false);
  assert.equal((await browser.request("GET", "/api/notes")).status, 401);
});

test("a blocked user is refused within two seconds", async () => {
  const user = await createUser();
  const browser = await visit(user);
  assert.equal((await browser.request("GET", "/api/me")).status, 200);
  await admin.updateUser(user.id, { is_active: false });
  await within2Seconds(async () => (await browser.request("GET", "/api/me")).status === 401);
});

test("one route requires a second factor, and the login ends with the user's tokens", async () => {
  const user = await createUser();
  const browser = await visit(user);
  const refused = await browser.request("DELETE", "/api/notes");
  assert.equal(refused.status, 401);
  assert.match(refused.headers.get("www-authenticate"), /acr_values="2fa", max_age=300/);
  assert.equal((await browser.request("GET", "/api/me")).status, 200);
  const { secret, finish } = await user.client.factor.begin({ currentPassword: password });
  const code = await mailed(user.email, /^\d{8}(?=\r?$)/m);
  await finish(codeOf(secret), code);
  await within2Seconds(async () => (await browser.request("GET", "/api/me")).status === 401);
  await browser.logIn(user);
  assert.equal((await browser.request("DELETE", "/api/notes")).status, 204);
});
