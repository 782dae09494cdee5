/** The pages below a path prefix, which a proxy removes: every link, script and request stays below it. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { DESKTOP, browserTest as test } from "@latchkey/testing/chromium";
import { inFullRun } from "@latchkey/testing/full-run";
import { startMailServer } from "@latchkey/testing/mail-server";
import { freePort } from "@latchkey/testing/server-process";
import { smtp, startSender } from "../support/mail-sender.ts";
import { EVERY_FEATURE, type Service, startService } from "../support/service.ts";
import { sharedBrowser } from "../support/shared-resources.ts";

const PREFIX = "/accounts";

/** A proxy that serves the service below the prefix, and nothing else. */
function startProxy(port: number, service: Service) {
  const outside: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: 0,
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (pathname.startsWith(`${PREFIX}/`)) {
        const url = service.url + pathname.slice(PREFIX.length) + search;
        return fetch(new Request(url, request), { decompress: false, redirect: "manual" });
      }
      outside.push(pathname);
      return new Response(null, { status: 404 });
    },
  });
  return { outside, [Symbol.dispose]: () => void server.stop(true) };
}

inFullRun(describe)("below a prefix", () => {
  const port = freePort();
  const url = `http://127.0.0.1:${port}${PREFIX}`;
  let service: Service;
  let proxy: ReturnType<typeof startProxy>;
  beforeAll(async () => {
    service = await startService({ env: { ...EVERY_FEATURE, PUBLIC_URL: `${url}/` } });
    proxy = startProxy(port, service);
  });
  afterAll(async () => {
    proxy[Symbol.dispose]();
    await service[Symbol.asyncDispose]();
    expect(proxy.outside).toEqual([]);
  });
  const visit = async (path: string) => (await sharedBrowser()).visit(url + path, DESKTOP);

  test("the root leads to the explorer, which calls operations, and links to the reference", async () => {
    const { page, faults } = await visit("/");
    expect(page.url()).toBe(`${url}/docs`);
    await page.click("#operations-Probes-getLiveness .opblock-summary-control");
    await page.click(".opblock.is-open button.execute");
    const status = page.locator(".opblock.is-open .live-responses-table .response .response-col_status");
    expect(await status.textContent()).toStartWith("200");
    const [reference] = await Promise.all([page.waitForEvent("popup"), page.click('a[href="redoc"]')]);
    expect(reference.url()).toBe(`${url}/redoc`);
    await reference.getByText(`${url}/healthz`).first().waitFor({ state: "attached" });
    expect(faults).toEqual([]);
  });

  test("a link in a mail leads to a new password, and an expired one to the page that requests another", async () => {
    await using server = await startMailServer();
    await using _sender = await startSender(service, smtp(server));
    const { email } = await service.createUser();
    await server.waitFor(1);
    const { page, faults } = await visit("/account/forgot-password/");
    await page.fill("input", email);
    await page.keyboard.press("Enter");
    await page.getByText("a link is on its way").waitFor();
    expect(faults).toEqual([]);

    const mail = (await server.waitFor(2))[1];
    const link = /^http\S+/m.exec(mail?.message ?? "")?.[0] ?? "";
    expect(link).toStartWith(`${url}/account/reset-password#token=`);
    const reset = await (await sharedBrowser()).visit(link, DESKTOP);
    await reset.page.fill("input", "a new long passphrase");
    await reset.page.keyboard.press("Enter");
    await reset.page.getByText("Your password is changed").waitFor();
    expect(reset.faults).toEqual([]);
    await service.login({ email, password: "a new long passphrase" });

    const used = await (await sharedBrowser()).visit(link, DESKTOP);
    await used.page.fill("input", "another long passphrase");
    await used.page.keyboard.press("Enter");
    await used.page.click("#dead a");
    await used.page.waitForURL(`${url}/account/forgot-password`);
  });

  test("the page of the account logs in", async () => {
    const { email, password } = await service.createUser();
    const { page, faults } = await visit("/account/passkeys");
    expect(page.url()).toBe(`${url}/account`);
    await page.fill("#login-form input[type=email]", email);
    await page.fill("#login-form input[type=password]", password);
    await page.keyboard.press("Enter");
    await page.getByText("You are logged in").waitFor();
    expect(faults).toEqual([]);
  });
});
