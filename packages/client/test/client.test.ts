/** The client against a running service: login state, errors, iteration and abort signals. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { freePort } from "@latchkey/testing/server-process";
import { createClient, LatchkeyConnectionError } from "../src/index.ts";
import { ADA, errorOf, type RunningService, recordingFetch, startService } from "./support/service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await startService({ AUTH_EMAIL_CHANGE: "true" });
  await createClient({ baseUrl: service.url }).register(ADA);
});
afterAll(() => service[Symbol.asyncDispose]());

describe("the login state", () => {
  test("changes of the token and its rejection are reported, and its expiry is known", async () => {
    const user = { email: "joan@example.com", username: "joan", password: ADA.password };
    const events: unknown[] = [];
    const createReporting = (token?: string) =>
      createClient({
        baseUrl: `${service.url}/`,
        token,
        onTokenChange: (changed) => events.push(changed),
        onSessionEnd: ({ code }) => events.push(code),
      });
    const client = createReporting();
    expect(client.tokenExpiresAt).toBeUndefined();
    await client.register(user);
    const { access_token } = await client.login(user);
    const inOneHour = Date.now() + 3_600_000;
    expect(Math.abs(Number(client.tokenExpiresAt) - inOneHour)).toBeLessThan(60_000);
    // A wrong password does not mean that the token is invalid.
    expect(await errorOf(client.login({ ...user, password: "wrong" }))).toMatchObject({ status: 401 });
    expect(client.token).toBe(access_token);
    await createClient({ baseUrl: service.url, token: access_token }).deleteMe();
    expect(await errorOf(client.getMe())).toMatchObject({ status: 404 });
    const expired = createReporting("a.b.c");
    expect(await errorOf(expired.updateMe({}))).toMatchObject({ status: 401 });
    expect([client.token, expired.token]).toEqual([undefined, undefined]);
    expect(events).toEqual([access_token, undefined, "USER_NOT_FOUND", undefined, "INVALID_TOKEN"]);
  });

  test("other errors and a new password do not forget the token; revoking and deleting the user do", async () => {
    const client = createClient({ baseUrl: service.url });
    const grace = { email: "grace@example.com", username: "grace", password: ADA.password };
    await client.register(grace);
    await client.login(grace);
    expect(await errorOf(client.updateMe({ username: ADA.username }))).toMatchObject({ status: 409 });
    const ignored = { username: "grace hopper", email: "hopper@example.com" };
    // @ts-expect-error The service would ignore it.
    expect(await client.updateMe(ignored)).toMatchObject({ ...ignored, email: grace.email });
    const change = { password: "a new password", current_password: "wrong" };
    expect(await errorOf(client.updateMe(change))).toMatchObject({ code: "CURRENT_PASSWORD_INCORRECT" });
    await client.updateMe({ ...change, current_password: grace.password });
    const { token } = client;
    await client.revokeTokens();
    expect(client.token).toBeUndefined();
    const stored = createClient({ baseUrl: service.url, token });
    expect(await errorOf(stored.getMe())).toMatchObject({ code: "INVALID_TOKEN" });
    await client.login({ ...grace, password: change.password });
    await client.deleteMe();
    expect(client.token).toBeUndefined();
    expect(await errorOf(client.login({ ...grace, password: change.password }))).toMatchObject({
      status: 401,
    });
  });
});

test("mails are requested with the e-mail or the stored token, and confirmations send the token of a link", async () => {
  const user = { email: "mary@example.com", username: "mary", password: ADA.password };
  const { statuses, fetch } = recordingFetch();
  const client = createClient({ baseUrl: service.url, fetch });
  await client.register(user);
  expect(await errorOf(client.requestEmailVerification())).toMatchObject({ code: "INVALID_TOKEN" });
  await client.login(user);
  await client.requestEmailVerification();
  await client.requestPasswordReset({ email: user.email });
  const invalid = { code: "ONE_TIME_TOKEN_INVALID" };
  const password = ADA.password;
  expect(await errorOf(client.confirmPasswordReset({ token: "x", password }))).toMatchObject(invalid);
  expect(await errorOf(client.confirmEmailVerification({ token: "x" }))).toMatchObject(invalid);
  expect(statuses).toEqual([201, 401, 200, 202, 202, 400, 400]);
});

test("both links of an e-mail change send their token", async () => {
  const client = createClient({ baseUrl: service.url });
  for (const send of [client.approveEmailChange, client.confirmEmailChange])
    expect(await errorOf(send({ token: "x" }))).toMatchObject({ code: "ONE_TIME_TOKEN_INVALID" });
});

describe("errors", () => {
  test("an error has the status, code, detail and request id of the response", async () => {
    let requestId: string | null = null;
    const send = async (request: Request) => {
      const response = await fetch(request);
      requestId = response.headers.get("x-request-id");
      return response;
    };
    const error = await errorOf(createClient({ baseUrl: service.url, fetch: send }).register(ADA));
    const detail = "A user with this e-mail or username already exists";
    expect(error).toMatchObject({ name: "LatchkeyError", status: 409, code: "USER_ALREADY_EXISTS", detail });
    expect(error).toMatchObject({ message: detail, requestId, retryAfterSeconds: undefined });
    expect(requestId).toBeString();
  });

  test("an invalid request lists its issues, and the message names them", async () => {
    expect(await errorOf(createClient({ baseUrl: service.url }).createTodo({ title: "" }))).toMatchObject({
      status: 422,
      detail: [{ loc: ["body", "title"] }],
      message: expect.stringMatching(/^body\.title /),
    });
  });

  test("the envelope of a proxy has a code, and a page of a proxy has neither code nor detail", async () => {
    await using proxy = Bun.serve({
      port: 0,
      fetch: ({ url }) =>
        url.endsWith("/1")
          ? Response.json({ detail: "Service Unavailable", code: "DATABASE_UNAVAILABLE" }, { status: 503 })
          : new Response("<h1>502 Bad Gateway</h1>", { status: 502, statusText: "Bad Gateway" }),
    });
    const client = createClient({ baseUrl: proxy.url.origin, retries: 0 });
    expect(await errorOf(client.getTodo(1))).toMatchObject({
      status: 503,
      code: "DATABASE_UNAVAILABLE",
      detail: "Service Unavailable",
    });
    expect(await errorOf(client.getTodo(2))).toMatchObject({
      status: 502,
      code: undefined,
      detail: "Bad Gateway",
      requestId: undefined,
    });
  });

  test("a redirect is an error, and its target receives nothing", async () => {
    const received: string[] = [];
    await using target = Bun.serve({
      port: 0,
      fetch: ({ method }) => Response.json({ access_token: received.push(method) }),
    });
    for (const status of [301, 302, 303, 307, 308]) {
      await using proxy = Bun.serve({ port: 0, fetch: () => Response.redirect(target.url.href, status) });
      const client = createClient({ baseUrl: proxy.url.origin, token: "secret" });
      for (const call of [() => client.login(ADA), client.getMe, client.deleteMe])
        expect(await errorOf(call())).toMatchObject({
          status,
          code: undefined,
          detail: "Redirects are not followed; check baseUrl",
        });
      expect(client.token).toBe("secret");
    }
    expect(received).toEqual([]);
  });

  test("an unreachable service is an error that states that the request was not sent", async () => {
    const client = createClient({ baseUrl: `http://127.0.0.1:${freePort()}`, retries: 0 });
    const error = await errorOf(client.getMe());
    expect(error).toBeInstanceOf(LatchkeyConnectionError);
    expect(error).toMatchObject({ method: "GET", path: "/auth/me", mayHaveBeenExecuted: false });
  });
});

test("iteration starts at a cursor, requests no page that is not needed, and ends when its signal aborts", async () => {
  const { statuses, fetch } = recordingFetch();
  const client = createClient({ baseUrl: service.url, fetch });
  for (const title of ["Milk", "Bread", "Tea", "Salt", "Rice"]) await client.createTodo({ title });
  statuses.length = 0;
  const { next_cursor } = await client.listTodos({ limit: 2 });
  const controller = new AbortController();
  const reason = new Error("enough");
  const iterate = async () => {
    const query = { limit: 1, cursor: next_cursor ?? "" };
    for await (const { title } of client.todos(query, { signal: controller.signal })) {
      expect(title).toBe("Tea");
      controller.abort(reason);
    }
  };
  expect(await errorOf(iterate())).toBe(reason);
  expect(statuses).toEqual([200, 200]);
});

test("every method rejects with the reason of its signal", async () => {
  const client = createClient({ baseUrl: service.url });
  await client.login(ADA);
  const reason = new Error("enough");
  const methods = Object.entries(client).filter(
    ([name, method]) => typeof method === "function" && !["logout", "close"].includes(name),
  );
  expect(methods.length).toBeGreaterThan(15);
  for (const [, method] of methods) {
    // A method with a default for its first parameter has the length 0.
    const before = Array.from({ length: (method.length || 2) - 1 }, () => ({}));
    const call = async (signal: AbortSignal) => {
      const result: Promise<unknown> | AsyncGenerator = Reflect.apply(method, client, [
        ...before,
        { signal },
      ]);
      await ("next" in result ? result.next() : result);
    };
    const controller = new AbortController();
    const promise = call(controller.signal);
    controller.abort(reason);
    expect(await errorOf(promise)).toBe(reason);
    expect(await errorOf(call(controller.signal))).toBe(reason);
  }
  expect(client.token).toBeString();
});
