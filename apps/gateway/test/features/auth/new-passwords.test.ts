/** The operator's rules for new passwords apply where one is set, before any quota and derivation, and never to a login. */
import { expect, test } from "bun:test";
import { signOneTimeToken } from "../../support/one-time-token.ts";
import { newCredentials, shareService } from "../../support/service.ts";

const CHOSEN = "correct horse battery";

const listed = new Set<string>();
const shared = shareService({
  env: {
    PASSWORD_MIN_LENGTH: "12",
    RATE_LIMIT_ENABLED: "true",
    RATE_LIMIT_REGISTER: "1/hour",
    RATE_LIMIT_PASSWORD_CHANGE: "1/hour",
  },
  isListedPassword: (password) => listed.has(password),
});

test("a short or listed new password returns 422 and is not counted; a login with it succeeds", async () => {
  const service = shared();
  const user = await service.createUser({ password: CHOSEN });
  listed.add(CHOSEN);
  const token = signOneTimeToken("reset", await service.readUser(user.id));
  const derivations = service.derivations();
  for (const [password, issue] of [
    ["x".repeat(11), { msg: "must be at least 12 characters long", type: "string_too_short" }],
    [CHOSEN, { msg: "is too common or was leaked", type: "password_listed" }],
  ] as const) {
    const responses = [
      await service.call("POST", "/auth/register", { body: { ...newCredentials(), password } }),
      await service.call("PATCH", "/auth/me", { token: user.token, body: { password } }),
      await service.call("POST", "/auth/password-reset/confirm", { body: { token, password } }),
    ];
    const detail = [{ loc: ["body", "password"], ...issue }];
    for (const { status, body } of responses)
      expect([status, body]).toEqual([422, { detail, code: "INVALID_REQUEST" }]);
  }
  expect(service.derivations()).toBe(derivations);
  expect(await service.login(user)).toBeString();
  const change = { token: user.token, body: { password: "x".repeat(12) } };
  expect((await service.call("PATCH", "/auth/me", change)).status).toBe(200);
});

test("the document and the page of resets state the minimum length", async () => {
  const { text } = await shared().call("GET", "/openapi.json");
  const bounds = [...text.matchAll(/"minLength":\d+,"maxLength":128/g)].map(String);
  expect(bounds).toEqual(Array(3).fill('"minLength":12,"maxLength":128'));
  expect(text).toContain('"msg":"must be at least 12 characters long"');
  const page = await (await fetch(`${shared().url}/account/reset-password`)).text();
  const [, rule] = /<p class="rule" id="([\w-]+)">12 to 128 characters\.<\/p>/.exec(page) ?? [];
  expect(page).toMatch(new RegExp(`<input [^>]*type="password"[^>]* aria-describedby="${rule} `));
});
