/** Features that are off: their routes and pages do not exist, and the document does not mention them. */
import { beforeAll, expect, test } from "bun:test";
import { EVERYTHING, enabledFeatures, OPTIONAL_FEATURES } from "../../src/features/optional-features.ts";
import { fetchDocument } from "../support/openapi/document.ts";
import { readConfig, startService } from "../support/service.ts";

const PAGES = ["/account/change-email", "/account/passkeys"];
const PATHS_OF_MAIL = [
  "/.well-known/change-password",
  "/auth/password-reset",
  "/auth/email-verification",
  "/account/forgot-password",
  "/account",
];

async function documentedPaths(env: typeof EVERYTHING): Promise<Set<string>> {
  await using service = await startService({ env });
  return new Set(Object.keys((await fetchDocument(service)).paths));
}

let optionalPaths: readonly string[];
beforeAll(async () => {
  const optional = (await documentedPaths(EVERYTHING)).difference(await documentedPaths({}));
  optionalPaths = [...optional].map((path) => path.replace(/\{\w+\}/, "x"));
});

test("the variables that turn on everything turn on each feature that is off by default", () => {
  const config = readConfig(EVERYTHING);
  expect([...enabledFeatures(config)]).toEqual(
    expect.arrayContaining(OPTIONAL_FEATURES.map(({ name }) => name)),
  );
});

test("without todos, their routes do not exist, and the document does not mention them", async () => {
  await using service = await startService({ env: { TODOS_ENABLED: "false" } });
  for (const [method, path] of [
    ["GET", "/todos?limit=20"],
    ["POST", "/todos"],
    ["PATCH", "/todos/1"],
    ["OPTIONS", "/todos/1"],
  ] as const) {
    const response = await fetch(service.url + path, { method });
    const expected = [path, 404, '{"detail":"Not Found","code":"NOT_FOUND"}'];
    expect([path, response.status, await response.text()]).toEqual(expected);
  }
  const { text } = await service.call("GET", "/openapi.json");
  expect(text).not.toMatch(/todo|cursor/i);
  expect(text).toContain("/auth/login");
});

test.each([
  ["by default", {}, [], ["verification", "password"]],
  ["in production without a mail server", { NODE_ENV: "production" }, PATHS_OF_MAIL, []],
])("%s, nothing shows the features that are off", async (_name, env, paths, mails) => {
  await using service = await startService({ env });
  expect(optionalPaths.length).toBeGreaterThan(20);
  for (const path of [...optionalPaths, ...PAGES, ...paths.flatMap((path) => [path, `${path}/confirm`])]) {
    // Not `service.call`, which compares responses with the document of a service that has them.
    const response = await fetch(service.url + path, { method: "POST" });
    const expected = [path, 404, '{"detail":"Not Found","code":"NOT_FOUND"}'];
    expect([path, response.status, await response.text()]).toEqual(expected);
  }
  for (const path of ["/account/authorize", "/.well-known/oauth-authorization-server"])
    expect([path, (await fetch(service.url + path)).status]).toEqual([path, 404]);
  const renewal = await fetch(`${service.url}/auth/tokens`, { method: "POST" });
  expect([renewal.status, renewal.headers.get("allow")]).toEqual([405, "DELETE"]);
  const { text } = await service.call("GET", "/openapi.json");
  expect(text).not.toMatch(
    /LOGIN_REQUIRED|EMAIL_NOT_VERIFIED|renew|passkey|email-?change|identit|oidc|LOGIN_CODE|LAST_LOGIN|RECENT_LOGIN|oauth|hosted/i,
  );
  const { token } = await service.createUser();
  await service.call("PATCH", "/auth/me", { token, body: { password: "a new long passphrase" } });
  const written = await service.sql<{ kind: string }>("select kind from outbox order by id");
  expect(written.map(({ kind }) => kind)).toEqual(mails);
});

test("with passkeys alone, the document has the errors of a user without a password", async () => {
  await using service = await startService({ env: { PASSKEY_ORIGINS: "http://localhost:3000" } });
  const { text } = await service.call("GET", "/openapi.json");
  expect(text).toContain("LAST_LOGIN");
  expect(text).toContain("RECENT_LOGIN_REQUIRED");
});
