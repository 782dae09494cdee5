/** The address of the login of an application: what is an error of the page, of the application, or neither. */
import { expect, test } from "bun:test";
import { readAuthorizationRequest } from "../../src/pages/authorization-request.ts";
import { CALLBACK, CHALLENGE } from "../support/hosted-login.ts";

const NATIVE = "com.example.app:/callback";
const WEB = { clientId: "web", name: "Example", redirectUris: [CALLBACK, `${CALLBACK}?x=y`] };
const clients = [
  WEB,
  { clientId: "native", name: "Example", redirectUris: [NATIVE, "http://127.0.0.1/callback"] },
];
const ISSUER = "https://accounts.example.com";
const VALID = {
  ...{ response_type: "code", client_id: "web", redirect_uri: CALLBACK, state: "a state" },
  ...{ code_challenge: CHALLENGE, code_challenge_method: "S256" },
};

function read(changes: object = {}, { appended = "", hasSecondFactor = true } = {}) {
  const parameters = Object.entries({ ...VALID, ...changes }).filter(([, value]) => value !== undefined);
  const query = `?${new URLSearchParams(parameters)}${appended}`;
  return readAuthorizationRequest(query, { clients, issuer: ISSUER, hasSecondFactor });
}

test("a valid request has what the page needs, and parameters without a meaning are ignored", () => {
  expect(
    read({ scope: "profile email", prompt: "login", nonce: "n", max_age: "0", ui_locales: "de" }),
  ).toEqual({
    ...{ kind: "request", client: WEB, redirectUri: CALLBACK, challenge: CHALLENGE },
    ...{ state: "a state", loginHint: undefined, isClicked: false },
    ...{ requiresSecondFactor: false, isRegistration: false },
  });
  const optional = { login_hint: "a@example.org", acr_values: "2fa", prompt: "create", state: undefined };
  expect(read(optional)).toMatchObject({
    ...{ kind: "request", loginHint: "a@example.org", requiresSecondFactor: true, isRegistration: true },
    state: undefined,
  });
});

test.each([
  [{ client_id: undefined }],
  [{ client_id: "WEB" }],
  [{ redirect_uri: undefined }],
  [{ redirect_uri: "" }],
  [{ redirect_uri: "https://evil.example/callback" }],
  [{ redirect_uri: `${CALLBACK}#x` }],
  [{ client_id: "native" }],
  [{}, "&redirect_uri=https%3A%2F%2Fevil.example"],
  [{}, `&redirect_uri=${CALLBACK}`],
  [{}, "&client_id=web"],
] as readonly [object, string?][])(
  "with %j%s, nothing leads away from the page",
  (changes, appended = "") => {
    expect(read(changes, { appended })).toMatchObject({ kind: "page" });
  },
);

test.each([
  [{ response_type: undefined }, "invalid_request"],
  [{ response_type: "token" }, "unsupported_response_type"],
  [{ response_type: "code id_token" }, "unsupported_response_type"],
  [{ scope: "profile openid" }, "invalid_scope"],
  [{ code_challenge: undefined }, "invalid_request"],
  [{ code_challenge: "" }, "invalid_request"],
  [{ code_challenge: `${CHALLENGE}=` }, "invalid_request"],
  [{ code_challenge_method: undefined }, "invalid_request"],
  [{ code_challenge_method: "plain" }, "invalid_request"],
  [{ max_age: "-1" }, "invalid_request"],
  [{ acr_values: "gold" }, "unmet_authentication_requirements"],
])("%j returns %s to the application", (changes, error) => {
  const url = `${CALLBACK}?error=${error}&state=a+state&iss=https%3A%2F%2Faccounts.example.com`;
  expect(read(changes)).toMatchObject({ kind: "error", url, to: { isClicked: false } });
});

test("a repeated parameter is an error of the application, and a repeated state is not returned", () => {
  const url = `${CALLBACK}?error=invalid_request&state=a+state&iss=https%3A%2F%2Faccounts.example.com`;
  for (const name of ["response_type", "scope", "code_challenge", "login_hint", "acr_values", "prompt"])
    expect([name, read({}, { appended: `&${name}=a&${name}=a` })]).toMatchObject([
      name,
      { kind: "error", url },
    ]);
  expect(read({}, { appended: "&state=x" })).toMatchObject({ url: url.replace("state=a+state&", "") });
  expect(read({}, { appended: "&resource=a&resource=b" }).kind).toBe("request");
});

test("without second factors, nobody can reach 2fa", () => {
  const url = expect.stringContaining("error=unmet_authentication_requirements&");
  expect(read({ acr_values: "2fa" }, { hasSecondFactor: false })).toMatchObject({ kind: "error", url });
});

test("a state of more than 1,024 characters is an error, and is not returned", () => {
  expect(read({ state: "💥".repeat(1024) }).kind).toBe("request");
  expect(read({ state: "x".repeat(1025) })).toMatchObject({
    ...{ kind: "error", url: `${CALLBACK}?error=invalid_request&iss=https%3A%2F%2Faccounts.example.com` },
  });
});

test("an error is appended to the query of a redirect URI, and a click returns to programs on the machine", () => {
  const redirect_uri = `${CALLBACK}?x=y`;
  const url = expect.stringMatching(/^https:\/\/app\.example\.com\/callback\?x=y&error=invalid_scope&/);
  expect(read({ redirect_uri, scope: "openid" })).toMatchObject({ kind: "error", url });
  for (const redirect_uri of [NATIVE, "http://127.0.0.1:51234/callback"])
    expect(read({ client_id: "native", redirect_uri })).toMatchObject({ kind: "request", isClicked: true });
});
