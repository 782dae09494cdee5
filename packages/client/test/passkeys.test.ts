/** Passkeys over the typed client in a browser, whose page has another origin than the service. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { addAuthenticator, browserTest, openBrowser, PHONE } from "@latchkey/testing/chromium";
import { createClient, LatchkeyPasskeyError } from "../src/index.ts";
import { ADA, errorOf, startService } from "./support/service.ts";

test("without a browser, passkeys are not supported", async () => {
  await using service = await startService({ PASSKEY_ORIGINS: "http://localhost:3000" });
  const error = await errorOf(createClient({ baseUrl: service.url }).passkeys.login());
  expect(error).toBeInstanceOf(LatchkeyPasskeyError);
  expect(error).toMatchObject({ reason: "not_supported" });
});

/** Runs in the page. */
const SCRIPT = `async ({ baseUrl, ada }) => {
  const { createClient } = await import("/client.js");
  const client = createClient({ baseUrl });
  const reasonOf = (promise) => promise.then(() => "none", (error) => error.reason ?? error.message);
  await client.register(ada);
  await client.login(ada);
  const { id, name } = await client.passkeys.create("Phone", ada.password);
  const listed = (await client.passkeys.list()).map((passkey) => passkey.id === id);
  client.logout();
  await client.passkeys.login();
  const { username } = await client.getMe();
  const aborted = await reasonOf(client.passkeys.login({ conditional: true, signal: AbortSignal.abort(new Error("enough")) }));
  await client.passkeys.remove(id);
  const removed = await reasonOf(client.passkeys.login());
  return { name, listed, username, aborted, removed };
}`;

browserTest("a user creates a passkey, logs in with it and removes it", async () => {
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, "../src/index.ts")],
    target: "browser",
  });
  const script = await built.outputs[0]?.text();
  await using page = {
    server: Bun.serve({
      port: 0,
      fetch: ({ url }) =>
        url.endsWith(".js")
          ? new Response(script, { headers: { "content-type": "text/javascript" } })
          : new Response("<!doctype html><title>Page</title>", { headers: { "content-type": "text/html" } }),
    }),
    [Symbol.asyncDispose]: () => page.server.stop(true),
  };
  const origin = `http://localhost:${page.server.port}`;
  // Without mail, the e-mail need not be verified.
  const env = { NODE_ENV: "production", PASSKEY_ORIGINS: origin, CORS_ORIGINS: origin };
  await using service = await startService(env);
  await using browser = await openBrowser();
  const visit = await browser.visit(origin, PHONE);
  await addAuthenticator(visit.page);
  const argument = { baseUrl: service.url, ada: ADA };
  expect(await visit.page.evaluate(`(${SCRIPT})(${JSON.stringify(argument)})`)).toEqual({
    name: "Phone",
    listed: [true],
    username: ADA.username,
    aborted: "enough",
    removed: "Incorrect e-mail or password",
  });
});
