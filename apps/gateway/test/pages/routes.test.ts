/**
 * Redirects: `GET /` leads browsers, and no other clients, to the documentation; a trailing slash leads to the page without it.
 * A document that could not be created is created at the next request.
 */
import { expect, test } from "bun:test";
import { readAssets } from "../../src/pages/assets.ts";
import { pageRoutes } from "../../src/pages/routes.ts";
import { shareService, startService } from "../support/service.ts";

const CHROMIUM = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
const NOT_FOUND = '{"detail":"Not Found","code":"NOT_FOUND"}';

const shared = shareService();

test.each([
  [CHROMIUM, 303],
  ["text/html", 303],
  ["application/json, Text/HTML ; charset=utf-8 ; q=0.1", 303],
  ["*/*", 404],
  ["text/*", 404],
  ["text/html;q=0, */*", 404],
  ["text/html ; charset=utf-8 ; Q=0.000", 404],
  ["text/htmlx, x/text/html", 404],
  ["application/json", 404],
  ["", 404],
])("GET and HEAD / with Accept: %s return %i", async (accept, status) => {
  for (const method of ["GET", "HEAD"]) {
    const response = await fetch(shared().url, { method, headers: { accept }, redirect: "manual" });
    const isError = status === 404;
    expect(response.status).toBe(status);
    expect(response.headers.get("location")).toBe(isError ? null : "docs");
    expect(response.headers.get("vary")).toBe("Origin, Accept");
    expect(response.headers.get("x-request-id")).toBeString();
    expect(await response.text()).toBe(isError && method === "GET" ? NOT_FOUND : "");
  }
});

test.each([
  ["/.well-known/change-password", "../account/forgot-password"],
  ["/.well-known/change-password/", "../../account/forgot-password"],
])("%s leads password managers to the page that requests a reset", async (path, location) => {
  for (const method of ["GET", "HEAD"]) {
    const response = await fetch(shared().url + path, { method, redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([302, location]);
    expect((await fetch(shared().url + path, { method })).status).toBe(200);
  }
});

test.each([
  ["/docs/", "../docs"],
  ["/account/reset-password/", "../../account/reset-password"],
])("%s leads to the page without the slash, whose relative links work", async (path, location) => {
  const response = await fetch(shared().url + path, { redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([308, location]);
  expect((await fetch(shared().url + path)).headers.get("content-type")).toStartWith("text/html");
});

test("one failure to create the OpenAPI document does not last, and later requests share one document", async () => {
  const documents = [Promise.reject(new Error("out of memory")), Promise.resolve("{}")];
  let created = 0;
  const routes = pageRoutes({
    createDocument: async () => documents[created++] ?? "",
    assets: readAssets(),
    product: { name: null, url: null },
    rules: shared().config.accounts,
    features: new Set(),
    featurePages: [],
  });
  const get = () => routes.handle(new Request("http://localhost/openapi.json"));
  expect((await get()).status).toBe(500);
  for (const response of await Promise.all([get(), get()])) expect(await response.text()).toBe("{}");
  expect(created).toBe(2);
});

test("the pages of accounts have the language of ?lang or of the browser, and vary with it; those of documents do not", async () => {
  await using service = await startService({ env: { LANGUAGES: "en,de" } });
  const read = async (path: string, accepted = "en") => {
    const response = await fetch(service.url + path, { headers: { "accept-language": accepted } });
    const [, language] = /<html lang="(\w+)">/.exec(await response.text()) ?? [];
    return [language, response.headers.get("vary")];
  };
  const varying = "Origin, Accept-Encoding, Accept-Language";
  expect(await read("/account", "de-CH")).toEqual(["de", varying]);
  expect(await read("/account/reset-password?lang=de")).toEqual(["de", varying]);
  expect(await read("/account?lang=../../x")).toEqual(["en", varying]);
  expect(await read("/docs?lang=de", "de")).toEqual(["en", "Origin, Accept-Encoding"]);
});
