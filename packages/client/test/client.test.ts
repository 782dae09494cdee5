/** The client against a running service: login state, errors, iteration and abort signals. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { freePort } from "@latchkey/testing/server-process";
import { createClient, LatchkeyConnectionError, LatchkeyError } from "../src/index.ts";
import { ADA, type RunningService, recordingFetch, startService } from "./support/service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await startService();
  await createClient({ baseUrl: service.url }).register(ADA);
});
afterAll(() => service[Symbol.asyncDispose]());

/** The error with which a method rejects. */
async function errorOf(promise: Promise<unknown>): Promise<LatchkeyError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof LatchkeyError) return error;
  throw new Error(`Expected a LatchkeyError, got ${String(error)}`);
}

/** A request that waits until it is released. */
function heldFetch() {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const send = async (request: Request): Promise<Response> => {
    if (request.url.endsWith("/auth/me")) await promise;
    return fetch(request);
  };
  return { fetch: send, release };
}

describe("the login state", () => {
  test("login stores the token, and logout forgets it", async () => {
    const client = createClient({ baseUrl: service.url });
    expect(client.token).toBeUndefined();
    expect(await errorOf(client.getMe())).toMatchObject({ status: 401 });

    const { access_token } = await client.login(ADA);
    expect(client.token).toBe(access_token);
    expect(await client.getMe()).toMatchObject({ email: ADA.email, username: ADA.username });

    client.logout();
    expect(client.token).toBeUndefined();
    expect(await errorOf(client.getMe())).toMatchObject({ status: 401 });
  });

  test("a stored token replaces the login", async () => {
    const { access_token: token } = await createClient({ baseUrl: service.url }).login(ADA);
    expect(await createClient({ baseUrl: `${service.url}/`, token }).getMe()).toMatchObject({
      username: "ada",
    });
  });

  test("a 401 for the token forgets it, a 401 for a wrong password does not", async () => {
    const client = createClient({ baseUrl: service.url });
    await client.login(ADA);
    const { token } = client;
    expect(await errorOf(client.login({ ...ADA, password: "wrong" }))).toMatchObject({ status: 401 });
    expect(client.token).toBe(token);

    const expired = createClient({ baseUrl: service.url, token: "a.b.c" });
    expect(await errorOf(expired.updateMe({}))).toMatchObject({ status: 401 });
    expect(expired.token).toBeUndefined();
  });

  test("changes of the token and its rejection are reported, and its expiry is known", async () => {
    const user = { email: "joan@example.com", username: "joan", password: ADA.password };
    const events: unknown[] = [];
    const createReporting = (token?: string) =>
      createClient({
        baseUrl: service.url,
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
    await createClient({ baseUrl: service.url, token: access_token }).deleteMe();
    expect(await errorOf(client.getMe())).toMatchObject({ status: 404 });
    expect(await errorOf(createReporting("a.b.c").getMe())).toMatchObject({ status: 401 });
    expect(events).toEqual([access_token, undefined, "USER_NOT_FOUND", undefined, "INVALID_TOKEN"]);
  });

  test("a late 401 for an earlier token does not forget the new one", async () => {
    const held = heldFetch();
    const client = createClient({ baseUrl: service.url, token: "a.b.c", fetch: held.fetch });
    const error = errorOf(client.getMe());
    const { access_token } = await client.login(ADA);
    held.release();
    expect(await error).toMatchObject({ status: 401 });
    expect(client.token).toBe(access_token);
  });

  test("other errors do not forget the token, deleting the user does", async () => {
    const client = createClient({ baseUrl: service.url });
    const grace = { email: "grace@example.com", username: "grace", password: ADA.password };
    await client.register(grace);
    await client.login(grace);
    expect(await errorOf(client.updateMe({ username: ADA.username }))).toMatchObject({ status: 409 });
    expect(await client.updateMe({ username: "hopper" })).toMatchObject({ username: "hopper" });
    await client.deleteMe();
    expect(client.token).toBeUndefined();
    expect(await errorOf(client.login(grace))).toMatchObject({ status: 401 });
  });
});

test("a password change keeps the stored token, a wrong current password does not forget it, revoking does", async () => {
  const user = { email: "lin@example.com", username: "lin", password: ADA.password };
  const client = createClient({ baseUrl: service.url });
  const other = createClient({ baseUrl: service.url });
  await client.register(user);
  await client.login(user);
  await other.login(user);
  const change = { password: "a new password", current_password: "wrong" };
  expect(await errorOf(client.updateMe(change))).toMatchObject({ code: "CURRENT_PASSWORD_INCORRECT" });
  await client.updateMe({ ...change, current_password: user.password });
  expect(await errorOf(other.getMe())).toMatchObject({ code: "INVALID_TOKEN" });
  const { token } = client;
  await client.revokeTokens();
  expect(client.token).toBeUndefined();
  const stored = createClient({ baseUrl: service.url, token });
  expect(await errorOf(stored.getMe())).toMatchObject({ code: "INVALID_TOKEN" });
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

describe("errors", () => {
  test("an error has the status, code, detail and request id of the response", async () => {
    let envelope: unknown;
    let requestId: string | null = null;
    const client = createClient({
      baseUrl: service.url,
      fetch: async (request) => {
        const response = await fetch(request);
        requestId = response.headers.get("x-request-id");
        envelope = await response.clone().json();
        return response;
      },
    });
    const error = await errorOf(client.register(ADA));
    expect(requestId).toBeString();
    expect(error).toMatchObject({
      name: "LatchkeyError",
      message: "A user with this e-mail or username already exists",
      status: 409,
      requestId,
      retryAfterSeconds: undefined,
    });
    expect(envelope).toEqual({ detail: error.message, ...(error.code && { code: error.code }) });
  });

  test("an invalid request lists its issues, and the message names them", async () => {
    const error = await errorOf(createClient({ baseUrl: service.url }).createTodo({ title: "" }));
    expect(error.status).toBe(422);
    expect(error.detail).toEqual([expect.objectContaining({ loc: ["body", "title"] })]);
    expect(error.message).toStartWith("body.title ");
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
    expect({ ...(await errorOf(client.getTodo(1))) }).toMatchObject({
      status: 503,
      code: "DATABASE_UNAVAILABLE",
      detail: "Service Unavailable",
    });
    expect({ ...(await errorOf(client.getTodo(2))) }).toMatchObject({
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
    const error = await client.getMe().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LatchkeyConnectionError);
    expect(error).toMatchObject({ method: "GET", path: "/auth/me", mayHaveBeenExecuted: false });
  });
});

describe("iteration", () => {
  beforeAll(async () => {
    const client = createClient({ baseUrl: service.url });
    for (const title of ["Milk", "Bread", "Tea", "Salt", "Rice"]) await client.createTodo({ title });
  });

  test("todos come from all pages in order, and pages end with the last one", async () => {
    const client = createClient({ baseUrl: service.url });
    const titles: string[] = [];
    for await (const { title } of client.todos({ limit: 2 })) titles.push(title);
    expect(titles).toEqual(["Milk", "Bread", "Tea", "Salt", "Rice"]);

    const sizes: number[] = [];
    for await (const { items } of client.todoPages({ limit: 2 })) sizes.push(items.length);
    expect(sizes).toEqual([2, 2, 1]);
  });

  test("it starts at a cursor, and requests no page that is not needed", async () => {
    const { statuses, fetch } = recordingFetch();
    const client = createClient({ baseUrl: service.url, fetch });
    const { next_cursor } = await client.listTodos({ limit: 2 });
    expect(next_cursor).toBeString();
    for await (const { title } of client.todos({ limit: 2, cursor: next_cursor ?? "" })) {
      expect(title).toBe("Tea");
      break;
    }
    expect(statuses).toEqual([200, 200]);
  });

  test("a signal ends it between two pages", async () => {
    const { statuses, fetch } = recordingFetch();
    const client = createClient({ baseUrl: service.url, fetch });
    const controller = new AbortController();
    const reason = new Error("enough");
    const iterate = async () => {
      for await (const _page of client.todoPages({ limit: 1 }, { signal: controller.signal })) {
        controller.abort(reason);
      }
    };
    expect(await iterate().catch((error: unknown) => error)).toBe(reason);
    expect(statuses).toEqual([200]);
  });
});

test("every method rejects with the reason of its signal", async () => {
  const client = createClient({ baseUrl: service.url });
  await client.login(ADA);
  const reason = new Error("enough");
  const calls: ((signal: AbortSignal) => Promise<unknown>)[] = [
    (signal) => client.register(ADA, { signal }),
    (signal) => client.login(ADA, { signal }),
    (signal) => client.getMe({ signal }),
    (signal) => client.updateMe({}, { signal }),
    (signal) => client.deleteMe({ signal }),
    (signal) => client.revokeTokens({ signal }),
    (signal) => client.requestPasswordReset(ADA, { signal }),
    (signal) => client.confirmPasswordReset({ token: "x", password: ADA.password }, { signal }),
    (signal) => client.requestEmailVerification({ signal }),
    (signal) => client.confirmEmailVerification({ token: "x" }, { signal }),
    (signal) => client.listTodos({}, { signal }),
    (signal) => client.todoPages({}, { signal }).next(),
    (signal) => client.todos({}, { signal }).next(),
    (signal) => client.createTodo({ title: "Aborted" }, { signal }),
    (signal) => client.getTodo(1, { signal }),
    (signal) => client.updateTodo(1, {}, { signal }),
    (signal) => client.deleteTodo(1, { signal }),
  ];
  for (const call of calls) {
    const controller = new AbortController();
    const promise = call(controller.signal);
    controller.abort(reason);
    expect(await promise.catch((error: unknown) => error)).toBe(reason);
    expect(await call(controller.signal).catch((error: unknown) => error)).toBe(reason);
  }
  expect(client.token).toBeString();
});
