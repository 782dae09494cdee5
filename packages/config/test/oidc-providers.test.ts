/** The variables of other ways to log in: what each accepts, which others it requires, and what causes a warning. */
import { expect, test } from "bun:test";
import { SECRET_KEY } from "@latchkey/testing/keys";
import type { Variables } from "../src/parse.ts";
import { errorsOf, parse as parseFrom } from "./support/parse.ts";

const KEY = { AUTH_SECRET_KEY: SECRET_KEY };
const PROVIDER = {
  ...{ name: "google", issuer: "https://accounts.example.com" },
  ...{ client_id: "id", client_secret: "s3cret-of-the-client" },
};
const PAGE = "https://app.example.com/callback";
const withProviders = (...providers: readonly unknown[]) => ({
  OIDC_PROVIDERS: JSON.stringify(providers),
  OIDC_REDIRECT_URIS: PAGE,
});
const parse = (variables: Variables) => parseFrom({ ...KEY, ...variables });
const invalidIn = (variables: Variables): string[] => {
  const errors = errorsOf({ ...KEY, ...variables });
  expect(errors.join()).not.toContain(PROVIDER.client_secret);
  return errors.map((line) => line.slice(0, line.indexOf(":")));
};

test("a provider has a scope, and links nobody unless it is configured", () => {
  const { OIDC_PROVIDERS } = parse(
    withProviders(PROVIDER, { ...PROVIDER, name: "other", link: true }),
  ).values;
  const { client_id: clientId, client_secret: clientSecret, ...others } = PROVIDER;
  const provider = {
    ...others,
    type: "oidc",
    clientId,
    clientSecret,
    scope: "openid email profile",
    label: null,
    tokenEndpointAuthMethod: null,
  };
  expect<unknown>(OIDC_PROVIDERS).toEqual([
    { ...provider, link: false },
    { ...provider, name: "other", link: true },
  ]);
});

test("GitHub needs neither an issuer nor the scope of OpenID Connect", () => {
  const { issuer: _, ...client } = PROVIDER;
  const providers = [
    { ...client, name: "github", type: "github", label: "GitHub" },
    { ...PROVIDER, type: "github", scope: "user:email" },
  ];
  // Editors on Windows write a byte order mark at the beginning of a file.
  const { OIDC_PROVIDERS } = withProviders(...providers);
  const { values } = parse({ ...withProviders(), OIDC_PROVIDERS: `\uFEFF${OIDC_PROVIDERS}` });
  expect<unknown>(values.OIDC_PROVIDERS).toMatchObject([
    { issuer: "https://github.com", scope: "read:user user:email", label: "GitHub" },
    { issuer: PROVIDER.issuer, scope: "user:email", type: "github" },
  ]);
});

test.each([
  [],
  ["google"],
  [{ ...PROVIDER, name: "Google" }],
  [{ ...PROVIDER, name: "" }],
  [PROVIDER, PROVIDER],
  [{ ...PROVIDER, issuer: "http://accounts.example.com" }],
  [{ ...PROVIDER, issuer: "https://accounts.example.com?x" }],
  [{ ...PROVIDER, client_secret: "" }],
  [{ ...PROVIDER, client_id: undefined }],
  [{ ...PROVIDER, scope: "email" }],
  [{ ...PROVIDER, issuer: undefined }],
  [{ ...PROVIDER, type: "gitlab" }],
  [{ ...PROVIDER, label: " Google" }],
  [{ ...PROVIDER, link: "true" }],
  [{ ...PROVIDER, links: true }],
])("%j is no list of providers", (...providers) => {
  expect(invalidIn(withProviders(...providers))).toEqual(["OIDC_PROVIDERS"]);
});

test("a provider on this machine can use http, and the list can be in a file", () => {
  expect(invalidIn(withProviders({ ...PROVIDER, issuer: "http://localhost:3001" }))).toEqual([]);
  expect(invalidIn({ ...withProviders(PROVIDER), OIDC_PROVIDERS: "not JSON" })).toEqual(["OIDC_PROVIDERS"]);
  expect(invalidIn({ OIDC_PROVIDERS: JSON.stringify([PROVIDER]) })).toEqual(["OIDC_REDIRECT_URIS"]);
});

test.each([
  "http://app.example.com/callback",
  "/callback",
  `${PAGE}#x`,
  `${PAGE}?x`,
  "https://app.example.com",
  "",
])("%s is no page to which a provider redirects", (uri) => {
  expect(invalidIn({ ...withProviders(PROVIDER), OIDC_REDIRECT_URIS: uri })).toEqual(["OIDC_REDIRECT_URIS"]);
});

test("a provider requires the current password for a new one, and without mail it causes a warning", () => {
  expect(parse(withProviders(PROVIDER)).values.AUTH_REQUIRE_CURRENT_PASSWORD).toBe(true);
  expect(parse({}).values.AUTH_REQUIRE_CURRENT_PASSWORD).toBe(false);
  const lenient = parse({ ...withProviders(PROVIDER), AUTH_REQUIRE_CURRENT_PASSWORD: "false" });
  expect(lenient.warnings.join()).toContain("AUTH_REQUIRE_CURRENT_PASSWORD is false with OIDC_PROVIDERS");
  const production = { NODE_ENV: "production", DATABASE_URL: "postgres://db/x?sslmode=verify-full" };
  const { warnings } = parse({ ...withProviders(PROVIDER), ...production, TODOS_ENABLED: "false" });
  expect(warnings).toEqual([expect.stringContaining("OIDC_PROVIDERS is set without MAIL_URL")]);
});

test("codes and verified e-mails require mail", () => {
  const production = { NODE_ENV: "production", DATABASE_URL: "postgres://db/x?sslmode=verify-full" };
  for (const name of ["AUTH_EMAIL_LOGIN", "AUTH_REQUIRE_VERIFIED_EMAIL"])
    expect(invalidIn({ ...production, [name]: "true" })).toEqual(["MAIL_URL"]);
  expect(parse({ AUTH_EMAIL_LOGIN: "true" }).warnings).toEqual([]);
});

test("idle hours require renewal days, and are at most a week", () => {
  expect(invalidIn({ AUTH_RENEWAL_IDLE_HOURS: "1" })).toEqual(["AUTH_RENEWAL_IDLE_HOURS"]);
  expect(invalidIn({ AUTH_RENEWAL_IDLE_HOURS: "169", AUTH_RENEWAL_DAYS: "1" })).toEqual([
    "AUTH_RENEWAL_IDLE_HOURS",
  ]);
  expect(invalidIn({ AUTH_RENEWAL_IDLE_HOURS: "168", AUTH_RENEWAL_DAYS: "1" })).toEqual([]);
});
