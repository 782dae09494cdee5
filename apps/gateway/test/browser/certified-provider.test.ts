/**
 * A person logs in to an application with a certified provider and with codes, in a real browser. Two replicas alternate, so each login
 * ends at the replica that has not begun it.
 */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { join } from "node:path";
import { DESKTOP, PHONE, browserTest as test, type ViewportSize } from "@latchkey/testing/chromium";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { startMailServer } from "@latchkey/testing/mail-server";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { freePort, untilOk } from "@latchkey/testing/server-process";
import { PATIENT_HASHING, post, startProcess } from "@latchkey/testing/service-process";
import { serveApplication } from "../support/application.ts";
import { startCertifiedProvider } from "../support/openid/certified-provider.ts";
import { CLIENT } from "../support/openid/hostile-provider.ts";
import { newCredentials, SECRET_KEY } from "../support/service.ts";
import { migratedPostgresServer, sharedBrowser } from "../support/shared-resources.ts";

/** The application, as `docs/logins.md` describes it. At the page of the redirect, a logged-in user adds the identity. */
const application = (baseUrl: string) => `
<p role=status></p>
<label>E-mail <input id=email></label> <label>Password or code <input id=secret></label>
<p><button>Log in with example</button> <button>Log in</button> <button>Mail a code</button> <button>Use the code</button></p>
<p><button>Add example</button> <button>Remove example</button> <button>Log out</button></p>
<script type=module>
import { createClient } from "/client.js";
const client = createClient({ baseUrl: "${baseUrl}", storage: () => localStorage });
const valueOf = (id) => document.getElementById(id).value;
const begin = async () => {
  location.href = await client.oidc.begin("example", location.origin + "/callback");
  await new Promise(() => {}); // until this page is left
};
let code;
const actions = {
  "Log in with example": begin,
  "Log in": () => client.login({ email: valueOf("email"), password: valueOf("secret") }),
  "Mail a code": async () => { code = await client.emailLogin(valueOf("email")); },
  "Use the code": () => code.finish(valueOf("secret")),
  "Add example": () => location.search ? client.oidc.add(location.href, valueOf("secret")) : begin(),
  "Log out": () => { client.logout(); history.replaceState(null, "", "/"); },
  "Remove example": async () => client.oidc.remove((await client.oidc.list())[0].id, valueOf("secret") || undefined),
};
const run = async (action) => {
  const status = document.querySelector("[role=status]");
  status.textContent = "…";
  try {
    await action();
    if (!client.token) return (status.textContent = "Logged out");
    const identities = (await client.oidc.list()).map(({ provider }) => provider);
    status.textContent = (await client.getMe()).email + " has " + (identities.join() || "no identity");
  } catch (error) {
    status.textContent = error.code ?? String(error);
  }
};
for (const button of document.querySelectorAll("button")) button.onclick = () => run(actions[button.textContent]);
if (location.search && !client.token) run(() => client.oidc.finish(location.href));
</script>`;

/** HAProxy, which sends every second request to each replica. Preflights take turns of their own. */
async function startBalancer(port: number, replicas: readonly string[]) {
  await using resources = new AsyncDisposableStack();
  const { path } = resources.use(await openFolder());
  const servers = replicas.map((url, index) => `    server ${index} ${new URL(url).host}`).join("\n");
  const configuration = `defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
    option forwardfor
    balance roundrobin
frontend public
    bind 127.0.0.1:${port}
    use_backend preflights if METH_OPTIONS
    default_backend requests
backend preflights
${servers}
backend requests
${servers}
`;
  const file = join(path, "haproxy.cfg");
  await Bun.write(file, configuration);
  const program = Bun.which("haproxy", { PATH: `${process.env.PATH}:/usr/sbin` }) ?? "haproxy";
  const balancer = resources.use(Bun.spawn([program, "-db", "-f", file], { killSignal: "SIGKILL" }));
  await untilOk(`http://127.0.0.1:${port}/healthz`, balancer);
  return resources.move();
}

inFullRun(describe)("an application with two replicas that alternate", () => {
  const resources = new AsyncDisposableStack();
  const port = freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  let replicas: ReturnType<typeof startProcess>[];
  let origin: string;
  let provider: Awaited<ReturnType<typeof startCertifiedProvider>>;
  let mailServer: Awaited<ReturnType<typeof startMailServer>>;
  beforeAll(async () => {
    ({ origin } = resources.use(await serveApplication(application(baseUrl))).url);
    provider = resources.use(await startCertifiedProvider([`${origin}/callback`]));
    mailServer = resources.use(await startMailServer());
    const env = {
      ...PATIENT_HASHING,
      DATABASE_URL: await (await migratedPostgresServer()).createMigrated(),
      REDIS_URL: resources.use(await startRedisServer()).url,
      AUTH_SECRET_KEY: SECRET_KEY,
      TRUST_PROXY: "1",
      RATE_LIMIT_ENABLED: "false",
      CORS_ORIGINS: origin,
      MAIL_URL: mailServer.url,
      MAIL_FROM: "accounts@example.com",
      PUBLIC_URL: baseUrl,
      OIDC_PROVIDERS: JSON.stringify([{ name: "example", issuer: provider.issuer, ...CLIENT }]),
      OIDC_REDIRECT_URIS: `${origin}/callback`,
      AUTH_EMAIL_LOGIN: "true",
    };
    replicas = [1, 2].map(() => resources.use(startProcess(env)));
    const urls = await Promise.all(replicas.map((replica) => replica.ready()));
    resources.use(await startBalancer(port, urls));
  });
  afterAll(() => resources.disposeAsync());

  /** Opens the application in a browser of its own. */
  const open = async (viewport: ViewportSize) => {
    const { page } = await (await sharedBrowser()).visit(origin, viewport);
    const click = (name: string) => page.getByRole("button", { name, exact: true }).click();
    return {
      click,
      fill: (label: string, text: string) => page.getByLabel(label).fill(text),
      expectStatus: (text: string) => page.getByRole("status").getByText(text, { exact: true }).waitFor(),
      /** @param subject a user who has not logged in at the provider in this browser, where it otherwise only asks for consent */
      async visitProvider(button: string, subject?: string) {
        await click(button);
        if (subject !== undefined) {
          await page.locator("[name=login]").fill(subject);
          await page.locator("[name=password]").fill("any");
          await page.keyboard.press("Enter");
        }
        await page.getByRole("button", { name: "Continue" }).click();
        await page.waitForURL(`${origin}/callback?**`);
      },
    };
  };
  const mailTo = async (email: string, subject: string) => {
    const isExpected = (mail: { readonly recipients: readonly string[]; readonly message: string }) =>
      mail.recipients.includes(email) && mail.message.includes(`Subject: ${subject}`);
    for (let count = 1; ; count++) {
      const mail = (await mailServer.waitFor(count)).find(isExpected);
      if (mail) return mail.message;
    }
  };

  /** By login, in their order: the replicas at which it began and ended. */
  const replicasOfLogins = () => {
    const lines = replicas.flatMap(({ lines }, replica) =>
      lines.flatMap(({ method, route, time }) => {
        const isLogin =
          /^\/auth\/(login\/(oidc|email)|identities\/:id$)/.test(`${route}`) && method === "POST";
        return isLogin ? [{ replica, time: `${time}`, begins: `${route}`.endsWith("/options") }] : [];
      }),
    );
    const inOrder = lines.toSorted((one, other) => one.time.localeCompare(other.time));
    const begun = inOrder.filter(({ begins }) => begins);
    const ended = inOrder.filter(({ begins }) => !begins);
    expect(ended).toHaveLength(begun.length);
    return begun.map(({ replica }, index) => [replica, ended[index]?.replica]);
  };

  test.each([PHONE, DESKTOP])(
    "the first login creates the user, the second one finds it, an identity is added and removed, and a code logs in: %o",
    async (viewport) => {
      const { email, username: sub } = newCredentials();
      await provider.setUser({ sub, email, email_verified: true });
      const ada = await open(viewport);
      await ada.visitProvider("Log in with example", sub);
      await ada.expectStatus(`${email} has example`);
      await ada.click("Log out");
      await ada.visitProvider("Log in with example");
      await ada.expectStatus(`${email} has example`);
      await ada.click("Log out");
      await ada.fill("E-mail", email);
      await ada.click("Mail a code");
      const [, code = ""] = /^(\d{8})\r?$/m.exec(await mailTo(email, "Your code to log in")) ?? [];
      await ada.fill("Password or code", code);
      await ada.click("Use the code");
      await ada.expectStatus(`${email} has example`);

      const { password, ...user } = newCredentials();
      expect((await post(`${baseUrl}/auth/register`, { ...user, password })).status).toBe(201);
      const verification = await mailTo(user.email, "Confirm your e-mail address");
      const [, token] = /#token=(\S+)/.exec(verification) ?? [];
      expect((await post(`${baseUrl}/auth/email-verification/confirm`, { token })).status).toBe(204);
      const bob = await open(viewport);
      await bob.fill("E-mail", user.email);
      await bob.fill("Password or code", password);
      await bob.click("Log in");
      await bob.expectStatus(`${user.email} has no identity`);
      await bob.visitProvider("Add example", user.username);
      await bob.fill("Password or code", password);
      await bob.click("Add example");
      await bob.expectStatus(`${user.email} has example`);
      const mail = await mailTo(user.email, "The logins of your account were changed");
      expect(mail).toMatch(/^- [\d-]{10} example\r?$/m);
      await bob.click("Log out");
      await bob.visitProvider("Log in with example");
      await bob.expectStatus(`${user.email} has example`);
      await bob.fill("Password or code", password);
      await bob.click("Remove example");
      await bob.expectStatus(`${user.email} has no identity`);

      const logins = replicasOfLogins().slice(-5);
      expect(logins.map(([begun, ended]) => begun !== ended)).toEqual(Array(5).fill(true));
    },
  );
});
