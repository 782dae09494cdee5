/** The page on which users of an application log in, as a browser receives it. */
import { expect, test } from "bun:test";
import { CALLBACK, CHALLENGE, startWithClients } from "../support/hosted-login.ts";

const VALID = {
  ...{ response_type: "code", client_id: "web", redirect_uri: CALLBACK },
  ...{ code_challenge: CHALLENGE, code_challenge_method: "S256" },
};
const addressOf = (changes: Readonly<Record<string, string>>) =>
  `/account/authorize?${new URLSearchParams({ ...VALID, ...changes })}`;

test("the page cannot be framed, is not stored, and shows nothing of the address as markup", async () => {
  await using service = await startWithClients();
  const markup = `"><script>alert(1)</script>`;
  const response = await fetch(service.url + addressOf({ state: markup, login_hint: markup }));
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("x-frame-options")).toBe("DENY");
  expect(response.headers.get("referrer-policy")).toBe("no-referrer");
  expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  const html = await response.text();
  expect(html).not.toContain("<script>");
  expect(html).toContain(`data-state="&quot;&gt;&lt;script&gt;`);
  expect(html).toContain("Log in to continue to Example");
  // The access log has no query.
  await service.request("/healthz");
  expect(JSON.stringify(service.log)).not.toContain(CHALLENGE);
});

test.each([
  ["open", true],
  ["closed", false],
] as const)("with %s registration, prompt=create offers it: %p", async (registration, isOffered) => {
  await using service = await startWithClients({ env: { AUTH_REGISTRATION: registration } });
  const response = await fetch(service.url + addressOf({ prompt: "create" }));
  expect([response.status, (await response.text()).includes(`data-prompt="create"`)]).toEqual([
    200,
    isOffered,
  ]);
});

test("errors return to a web application, by a click to a native one, and stay here for anybody else", async () => {
  await using service = await startWithClients();
  const load = (changes: Readonly<Record<string, string>>) =>
    fetch(service.url + addressOf({ scope: "openid", state: "s&x", ...changes }), { redirect: "manual" });
  const error = "error=invalid_scope&state=s%26x&iss=https%3A%2F%2Faccounts.example.com";
  const web = await load({});
  expect([web.status, web.headers.get("location")]).toEqual([303, `${CALLBACK}?${error}`]);
  for (const redirect_uri of ["com.example.app:/callback", "http://127.0.0.1:51234/callback"]) {
    const native = await load({ client_id: "native", redirect_uri });
    expect([native.status, native.headers.get("location")]).toEqual([400, null]);
    const html = await native.text();
    expect(html).toContain(`href="${redirect_uri}?${error.replaceAll("&", "&amp;")}"`);
    expect(html).toContain("Return to Example for computers");
  }
  const foreign = await load({ redirect_uri: "https://evil.example/callback" });
  expect([foreign.status, foreign.headers.get("location")]).toEqual([400, null]);
  const html = await foreign.text();
  expect(html).toContain("redirect_uri");
  expect(html).not.toContain("evil.example");
});
