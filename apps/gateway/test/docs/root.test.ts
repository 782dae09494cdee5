/** `GET /` redirects browsers to the documentation. For all other clients, the path does not exist. */
import { expect, test } from "bun:test";
import { startService } from "../support/service.ts";

const CHROMIUM = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
const NOT_FOUND = '{"detail":"Not Found","code":"NOT_FOUND"}';

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
  await using service = await startService();
  for (const method of ["GET", "HEAD"]) {
    const response = await fetch(service.url, { method, headers: { accept }, redirect: "manual" });
    const isError = status === 404;
    expect(response.status).toBe(status);
    expect(response.headers.get("location")).toBe(isError ? null : "/docs");
    expect(response.headers.get("vary")).toBe("Origin, Accept");
    expect(response.headers.get("x-request-id")).toBeString();
    expect(await response.text()).toBe(isError && method === "GET" ? NOT_FOUND : "");
  }
});

test("GET / is logged and rate-limited, and other methods return 404", async () => {
  await using service = await startService({
    env: { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_DEFAULT: "2/hour" },
  });
  const open = () => fetch(service.url, { headers: { accept: CHROMIUM }, redirect: "manual" });
  expect((await open()).status).toBe(303);
  expect((await service.call("POST", "/", { body: {}, headers: { accept: CHROMIUM } })).status).toBe(404);
  expect((await open()).status).toBe(429);
  expect(service.log).toContainEqual(expect.objectContaining({ method: "GET", route: "/", status: 303 }));
});

test("GET / follows the redirect to the page", async () => {
  await using service = await startService();
  const response = await fetch(service.url, { headers: { accept: CHROMIUM } });
  expect(response.url).toBe(`${service.url}/docs`);
  expect(response.headers.get("content-type")).toStartWith("text/html");
});
