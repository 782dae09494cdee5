/** Login: its response, and which e-mails, passwords and users it accepts. */
import { expect, test } from "bun:test";
import { shareService, startService } from "../../support/service.ts";

const shared = shareService();

test("login returns 200 with exactly an access token and the type bearer, for any spelling of the e-mail", async () => {
  const { password } = await shared().register({ email: "Grace@Example.org" });
  const access_token = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  for (const email of ["grace@example.org", "GRACE@EXAMPLE.ORG", " \tgRACE@example.ORG\n"]) {
    const { status, body } = await shared().call("POST", "/auth/login", { body: { email, password } });
    expect([status, body]).toEqual([200, { access_token, token_type: "bearer" }]);
  }
});

test("passwords are not trimmed or case-folded, and one of any length returns 401, not 422", async () => {
  const password = " p\u00e4ssw\u00f6rd K ";
  const { email } = await shared().register({ password });
  const others = [password.trim(), password.toLowerCase(), `${password} `];
  for (const other of [...others, ...[0, 1, 7, 129, 100_000].map((length) => "p".repeat(length))]) {
    const { status } = await shared().call("POST", "/auth/login", { body: { email, password: other } });
    expect(status).toBe(401);
  }
  expect(await shared().login({ email, password })).toBeString();
});

test("a password that another system sends decomposed is verified once more in NFC, for registered and unknown e-mails", async () => {
  await using service = await startService();
  const { email } = await service.register({ password: "caf\u00e9-cr\u00e8me 12" });
  for (const [address, password, status, derivations] of [
    [email, "caf\u00e9-cr\u00e8me 12", 200, 1],
    [email, "cafe\u0301-cre\u0300me 12", 200, 2],
    [email, "cafe\u0301-cre\u0300me 13", 401, 2],
    ["nobody@example.com", "cafe\u0301-cre\u0300me 12", 401, 2],
    [email, "caf\u00e9-cr\u00e8me 13", 401, 1],
  ] as const) {
    const before = service.derivations();
    const response = await service.call("POST", "/auth/login", { body: { email: address, password } });
    expect([response.status, service.derivations() - before]).toEqual([status, derivations]);
  }
});

test("a long password whose normalization would take seconds does not delay other requests", async () => {
  const password = `a${"\u0315".repeat(20_000)}${"\u0316".repeat(20_000)}`;
  const body = { email: "nobody@example.com", password };
  const before = process.cpuUsage();
  expect((await shared().call("POST", "/auth/login", { body })).status).toBe(401);
  // Of the processor, because other processes can delay a response.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
});

test("a password that was chosen decomposed is valid as sent", async () => {
  const password = "cafe\u0301-cre\u0300me 12";
  const { email } = await shared().register({ password });
  expect(await shared().login({ email, password })).toBeString();
});

test("an inactive user can log in but gets 403, and a change of is_active takes effect on the next request", async () => {
  const { email, password, user } = await shared().register();
  await shared().sql(`update users set is_active = false where id = ${user.id}`);
  const token = await shared().login({ email, password });
  const response = await shared().call("GET", "/auth/me", { token });
  expect([response.status, response.body]).toEqual([
    403,
    { detail: "The user is inactive", code: "INACTIVE_USER" },
  ]);
  await shared().sql(`update users set is_active = true where id = ${user.id}`);
  expect((await shared().call("GET", "/auth/me", { token })).body).toEqual(user);
});

test("logins of disconnected clients leave the queue without a derivation", async () => {
  const waiting = 5;
  const outcomes: Promise<unknown>[] = [];
  const allQueued = Promise.withResolvers<void>();
  await using service = await startService({
    hashing: "production",
    wrapHasher: (hasher) => ({
      verify(...call) {
        const outcome = hasher.verify(...call);
        outcomes.push(outcome.catch((error: Error) => error.name));
        if (outcomes.length === waiting) allQueued.resolve();
        return outcome;
      },
    }),
  });
  const disconnect = new AbortController();
  const attempts = Array.from({ length: waiting }, (_, index) => {
    const body = { email: `nobody${index}@example.org`, password: "whatever" };
    return service.call("POST", "/auth/login", { body, signal: disconnect.signal });
  });
  await allQueued.promise;
  disconnect.abort();
  await Promise.allSettled(attempts);
  expect(await Promise.all(outcomes)).toEqual(Array(waiting).fill("AbortError"));
  const { aborted, queueLength, completed } = service.hasher.stats();
  expect({ aborted, queueLength, completed }).toEqual({ aborted: waiting, queueLength: 0, completed: 0 });
});
