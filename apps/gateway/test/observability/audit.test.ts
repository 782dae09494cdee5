/** The log line of a request contains its security-relevant event, the user's id and a digest of the e-mail. */
import { expect, test } from "bun:test";
import { AUDIT_EVENTS } from "../../src/observability/audit.ts";
import type { Purpose } from "../../src/tokens/one-time-tokens.ts";
import { beginEmailChange, signOneTimeToken } from "../support/one-time-token.ts";
import { EVERY_FEATURE, type LogLine, type Service, startService } from "../support/service.ts";

const owner = { email: "owner@example.org", username: "owner", password: "correct horse battery" };
const from = (address: string) => ({ headers: { "x-forwarded-for": address } });

/** The lines of all requests so far, in the order of their responses. */
async function linesOf(service: Service): Promise<readonly LogLine[]> {
  await service.request("/healthz");
  return service.log.filter(({ duration_ms, route }) => duration_ms !== undefined && route !== "/healthz");
}

test("each event is logged once, in the line of its request, and no line contains an e-mail or a password", async () => {
  await using service = await startService({
    env: {
      ...EVERY_FEATURE,
      RATE_LIMIT_ENABLED: "true",
      RATE_LIMIT_LOGIN: "100/minute",
      RATE_LIMIT_PASSWORD_CHANGE: "100/minute",
      TRUST_PROXY: "1",
    },
  });
  const linkFor = async (userId: number, purpose: Purpose) =>
    signOneTimeToken(purpose, await service.readUser(userId));
  const digestEmail = await service.database.digests.openEmailDigest();
  const events: [string, number | undefined, string][] = [];
  const expectEvent = (event: string, id: number | undefined, email = owner.email) =>
    events.push([event, id, digestEmail(email)]);
  const logIn = (address: string, password: string, email = owner.email) =>
    service.call("POST", "/auth/login", { body: { email, password }, ...from(address) });

  const { id } = (
    await service.call("POST", "/auth/register", { body: owner, ...from("192.0.2.1") })
  ).expect<{ id: number }>(201);
  expectEvent("user.registered", id);
  for (const email of [owner.email, "nobody@example.org"]) {
    await service.call("POST", "/auth/register", { body: { ...owner, email }, ...from("192.0.2.1") });
    expectEvent("user.rejected", undefined, email);
  }
  for (let index = 0; index < 10; index++) {
    await logIn("198.51.100.1", "wrong one", " OWNER@example.org");
    expectEvent("login.failed", id);
  }
  await logIn("198.51.100.1", owner.password);
  expectEvent("login.limited", id);
  await logIn("198.51.100.1", "wrong one", "nobody@example.org");
  expectEvent("login.failed", undefined, "nobody@example.org");
  const login = await logIn("192.0.2.1", owner.password);
  expectEvent("login.succeeded", id);
  const { access_token: token } = login.expect<{ access_token: string }>(200);
  const patch = (body: object) => service.call("PATCH", "/auth/me", { token, body, ...from("192.0.2.1") });
  await service.call("GET", "/auth/me", { token });
  await patch({});
  await patch({ username: "renamed" });
  expectEvent("user.updated", id);
  await patch({ current_password: "wrong one", username: "other" });
  expectEvent("password.rejected", id);
  await patch({ current_password: owner.password });
  const requestChange = (email: string, current_password = owner.password) =>
    service.call("POST", "/auth/email-change", {
      ...{ token, body: { email, current_password } },
      ...from("192.0.2.1"),
    });
  const change = { email: "new@example.org" };
  for (let index = 0; index < 3; index++) {
    await requestChange(change.email);
    expectEvent("email.change_requested", id);
  }
  await requestChange(change.email);
  expectEvent("email.change_limited", id);
  await requestChange(owner.email);
  expectEvent("email.change_cancelled", id);
  await patch({ username: "again", password: "another passphrase", current_password: owner.password });
  expectEvent("password.changed", id);
  // The change of the password has started the count of wrong values anew.
  for (let index = 0; index < 10; index++) {
    await patch({ current_password: "wrong one" });
    expectEvent("password.rejected", id);
  }
  await patch({ current_password: "another passphrase" });
  expectEvent("password.limited", id);
  await service.call("DELETE", "/auth/tokens", { token });
  expectEvent("tokens.revoked", id);
  await service.call("POST", "/auth/password-reset", { body: { email: owner.email } });
  expectEvent("reset.requested", undefined);
  const links = await Promise.all(
    (["verification", "reset"] as const).map((purpose) => linkFor(id, purpose)),
  );
  await service.call("POST", "/auth/email-verification/confirm", { body: { token: links[0] } });
  expectEvent("email.verified", id);
  const reset = { token: links[1], password: "the third passphrase" };
  await service.call("POST", "/auth/password-reset/confirm", { body: reset, ...from("192.0.2.1") });
  expectEvent("password.reset", id);
  const changing = await beginEmailChange(service, id, change.email);
  const approval = { token: signOneTimeToken("email-change-approval", changing) };
  await service.call("POST", "/auth/email-change/approve", { body: approval });
  expectEvent("email.change_approved", id);
  const confirmation = { token: signOneTimeToken("email-change", changing) };
  await service.call("POST", "/auth/email-change/confirm", { body: confirmation });
  expectEvent("email.changed", id, change.email);
  const second = await logIn("192.0.2.1", "the third passphrase", change.email);
  expectEvent("login.succeeded", id, change.email);
  const { access_token: last } = second.expect<{ access_token: string }>(200);
  await service.call("DELETE", "/auth/me", { token: last });
  expectEvent("user.deleted", id, change.email);

  const lines = await linesOf(service);
  const logged = lines.filter(({ event }) => event !== undefined);
  expect(logged.map((line) => [line.event, line.user_id, line.email_digest])).toEqual(events);
  // See verify-password.test.ts, familiar-networks.test.ts, verified-email.test.ts, administration-app.test.ts,
  // and service.test.ts of passkeys, identities, email-login, second-factor and hosted-login.
  const others = AUDIT_EVENTS.filter((event) =>
    /^(passkey|identity|login_code|factor|authorization_code|admin)\.|unverified|factor_required|taken_over/.test(
      event,
    ),
  );
  const seen = logged.map(({ event }) => event);
  expect(new Set([...seen, ...others, "password.rehashed", "login.inactive"])).toEqual(new Set(AUDIT_EVENTS));
  expect(new Set(lines.map(({ request_id }) => request_id)).size).toBe(lines.length);
  const text = JSON.stringify(service.log);
  for (const secret of ["@example.org", "wrong one", "passphrase", token, ...links])
    expect(text).not.toContain(secret);
});
