/** The applications of hosted login: which are accepted, and what they require. */
import { expect, test } from "bun:test";
import { SECRET_KEY } from "@latchkey/testing/keys";
import type { Variables } from "../src/parse.ts";
import { errorsOf, parse } from "./support/parse.ts";

const URL = "https://accounts.example.com/login";
const BASE = { AUTH_SECRET_KEY: SECRET_KEY, PUBLIC_URL: URL, AUTH_ISSUER: URL, AUTH_RENEWAL_DAYS: "30" };
const CLIENT = { client_id: "web", name: "Example", redirect_uris: ["https://app.example.com/callback"] };
const clients = (...list: readonly unknown[]) => ({ ...BASE, LOGIN_CLIENTS: JSON.stringify(list) });
const invalidIn = (variables: Variables) =>
  errorsOf(variables).map((line) => line.slice(0, line.indexOf(":")));

test("a client has a name and redirect URIs, and no warning", () => {
  const uris = [
    "https://app.example.com/callback?from=login",
    "http://127.0.0.1/callback",
    "http://[::1]/callback",
    "http://localhost:3000/callback",
    "com.example.app:/callback",
  ];
  const { values, warnings } = parse(clients({ ...CLIENT, redirect_uris: uris }));
  expect(values.LOGIN_CLIENTS).toEqual([{ clientId: "web", name: "Example", redirectUris: uris }]);
  expect(warnings).toEqual([]);
});

test.each([
  "http://app.example.com/callback",
  "https://app.example.com/callback#x",
  "https://user@app.example.com/callback",
  "https://app.example.com",
  "https://APP.example.com/callback",
  "//app.example.com/callback",
  "example:/callback",
  "javascript:alert(1)",
  "data.example:text/html,x#",
  "",
])("%s is no redirect URI", (uri) => {
  expect(invalidIn(clients({ ...CLIENT, redirect_uris: [uri] }))).toEqual(["LOGIN_CLIENTS"]);
});

test.each([
  [],
  ["web"],
  [CLIENT, CLIENT],
  [{ ...CLIENT, client_id: "" }],
  [{ ...CLIENT, client_id: "with space" }],
  [{ ...CLIENT, name: undefined }],
  [{ ...CLIENT, redirect_uris: [] }],
  [{ ...CLIENT, redirect_uris: "https://app.example.com/callback" }],
  [{ ...CLIENT, client_secret: "s3cret" }],
])("%j is no list of clients", (...list) => {
  expect(invalidIn(clients(...list))).toEqual(["LOGIN_CLIENTS"]);
});

test("clients require a public URL, https except on this machine, which is also the issuer", () => {
  const invalidWith = (variables: Variables) => invalidIn({ ...clients(CLIENT), ...variables });
  expect(invalidWith({ PUBLIC_URL: undefined })).toEqual(["PUBLIC_URL"]);
  expect(invalidWith({ PUBLIC_URL: "http://a.example", AUTH_ISSUER: "http://a.example" })).toEqual([
    "PUBLIC_URL",
  ]);
  expect(invalidWith({ AUTH_ISSUER: undefined })).toEqual(["AUTH_ISSUER"]);
  expect(invalidWith({ AUTH_ISSUER: `${URL}/` })).toEqual(["AUTH_ISSUER"]);
  const local = "http://localhost:3000";
  expect(invalidWith({ PUBLIC_URL: local, AUTH_ISSUER: local })).toEqual([]);
});

test("without renewal, a warning says that users log in again and again", () => {
  const { warnings } = parse({ ...clients(CLIENT), AUTH_RENEWAL_DAYS: "0" });
  expect(warnings).toEqual([expect.stringMatching(/^LOGIN_CLIENTS .*AUTH_RENEWAL_DAYS/)]);
});
