/** Passkeys over the typed client in a browser, whose page has another origin than the service. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { addAuthenticator, browserTest, openBrowser, PHONE } from "@latchkey/testing/chromium";
import { createClient, LatchkeyPasskeyError } from "../src/index.ts";
import { ADA, errorOf, startService } from "./support/service.ts";

test("without a browser, passkeys are not supported", async () => {
  const fetch = async () => Response.json({ options: {}, state: "state" });
  const error = await errorOf(createClient({ baseUrl: "http://localhost", fetch }).passkeys.login());
  expect(error).toBeInstanceOf(LatchkeyPasskeyError);
  expect(error).toMatchObject({ reason: "not_supported" });
});

test("the current password of a passkey is optional, because users can have none", async () => {
  const bodies: unknown[] = [];
  const fetch = async (request: Request) => {
    bodies.push(await request.json());
    return Response.json({ options: { challenge: "" }, state: "state" });
  };
  const { passkeys } = createClient({ baseUrl: "http://localhost", fetch, token: "a.b.c" });
  await errorOf(passkeys.create("Phone"));
  await errorOf(passkeys.create("Phone", "correct horse"));
  expect(bodies).toEqual([{}, { current_password: "correct horse" }]);
});

const DOM_EXCEPTIONS = [
  "NotSupportedError",
  "SecurityError",
  "ConstraintError",
  "OperationError",
  "UnknownError",
];

/**
 * Runs in the page, whose clock jumps during one login. As with the extension of a password manager in an old Safari, the
 * browser's conversions from and to JSON are missing or throw.
 */
const SCRIPT = `async ({ baseUrl, ada }) => {
  delete PublicKeyCredential.parseCreationOptionsFromJSON;
  delete PublicKeyCredential.parseRequestOptionsFromJSON;
  PublicKeyCredential.prototype.toJSON = () => { throw new TypeError("Illegal invocation"); };
  const { createClient } = await import("/client.js");
  const client = createClient({ baseUrl });
  const reasonOf = (promise) => promise.then(() => "none", (error) => error.reason ?? error.message);
  const cancelled = await reasonOf(client.passkeys.login());
  const { now } = Date;
  Date.now = () => now() + 1e6 * performance.now();
  const timedOut = await reasonOf(client.passkeys.login());
  Date.now = now;
  await client.register(ada);
  await client.login(ada);
  const { id, name } = await client.passkeys.create("Phone", ada.password);
  const listed = (await client.passkeys.list()).map((passkey) => passkey.id === id);
  const again = await reasonOf(client.passkeys.create("Phone", ada.password));
  client.logout();
  await client.passkeys.login();
  const { username } = await client.getMe();
  const aborted = await reasonOf(client.passkeys.login({ conditional: true, signal: AbortSignal.abort(new Error("enough")) }));
  await client.passkeys.remove(id, ada.password);
  const removed = await reasonOf(client.passkeys.login());
  const rejected = [];
  for (const error of ${JSON.stringify(DOM_EXCEPTIONS)}) {
    navigator.credentials.get = async () => { throw new DOMException("of the browser", error); };
    rejected.push(await reasonOf(client.passkeys.login()));
  }
  navigator.credentials.get = () => { throw new TypeError("of an extension"); };
  rejected.push(await reasonOf(client.passkeys.login()));
  return { reasons: [cancelled, timedOut, again, aborted, removed], rejected, name, listed, username };
}`;

browserTest(
  "a user creates a passkey, logs in with it and removes it, or is told why that fails",
  async () => {
    const entrypoint = join(import.meta.dir, "../src/index.ts");
    const [built] = (await Bun.build({ entrypoints: [entrypoint], target: "browser" })).outputs;
    const script = new Response(await built?.text(), { headers: { "content-type": "text/javascript" } });
    const page = new Response("<title>Page</title>", { headers: { "content-type": "text/html" } });
    using server = Bun.serve({ port: 0, routes: { "/client.js": script, "/*": page } });
    const origin = `http://localhost:${server.port}`;
    // Without mail, the e-mail need not be verified.
    const env = { NODE_ENV: "production", PASSKEY_ORIGINS: origin, CORS_ORIGINS: origin };
    await using service = await startService(env);
    await using browser = await openBrowser();
    const visit = await browser.visit(origin, PHONE);
    await addAuthenticator(visit.page);
    const argument = { baseUrl: service.url, ada: ADA };
    expect(await visit.page.evaluate(`(${SCRIPT})(${JSON.stringify(argument)})`)).toEqual({
      reasons: ["cancelled", "timed_out", "already_registered", "enough", "The passkey was not accepted"],
      rejected: [
        "not_supported",
        "not_allowed_here",
        "unsuitable_device",
        "request_pending",
        "failed",
        "of an extension",
      ],
      name: "Phone",
      listed: [true],
      username: ADA.username,
    });
  },
);
