/** For each status, a request that produces it, for any operation. */
import { BODY_MAX_BYTES } from "@latchkey/contracts";
import { DatabaseUnavailable, type User } from "@latchkey/database";
import { signOneTimeToken } from "../one-time-token.ts";
import { newCredentials, type Service, startService } from "../service.ts";
import { parseResponses } from "../wire.ts";
import type { ReceivedResponse } from "./contract.ts";
import type { NamedOperation } from "./document.ts";

/** Differences from the valid request without a token. */
interface Variation {
  readonly token?: string;
  readonly body?: unknown;
  readonly id?: number | string;
  readonly query?: string;
}

/** Its tokens are genuine. */
const anybody: User = {
  id: 1,
  ...{ email: "", username: "", hashedPassword: "", isActive: true, emailVerified: false },
  ...{ tokenVersion: 0, passwordChangeTokenId: null, createdAt: "", updatedAt: "", importedHash: null },
};

const VALID_BODIES: Readonly<Record<string, () => unknown>> = {
  register: newCredentials,
  login: newCredentials,
  updateMe: () => ({ username: newCredentials().username }),
  createTodo: () => ({ title: "Buy milk" }),
  updateTodo: () => ({ completed: true }),
  requestPasswordReset: newCredentials,
  ...confirmationsOf(anybody),
};

/** The valid bodies of confirmations. */
function confirmationsOf(user: User) {
  const { password } = newCredentials();
  return {
    confirmPasswordReset: () => ({ token: signOneTimeToken("reset", user), password }),
    confirmEmailVerification: () => ({ token: signOneTimeToken("verification", user) }),
  };
}

function send(service: Service, operation: NamedOperation, variation: Variation = {}) {
  const { method, path, operationId = "" } = operation;
  const { token, id = 1, query = "", body = VALID_BODIES[operationId]?.() } = variation;
  return service.call(method, path.replace("{id}", String(id)) + query, {
    ...(body !== undefined && { body }),
    ...(token !== undefined && { token }),
  });
}

interface Subjects extends AsyncDisposable {
  readonly working: Service;
  /** Allows one request per hour. */
  readonly limited: Service;
  /** Every call of its database rejects with an unexpected error. */
  readonly failing: Service;
  /** Every call of its database rejects as unavailable. */
  readonly unavailable: Service;
}

/** All use the same key, so each accepts the tokens of the others. */
export async function startSubjects(): Promise<Subjects> {
  const subjects = {
    working: await startService(),
    limited: await startService({ env: { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_DEFAULT: "1/hour" } }),
    failing: await startBroken(() => new Error("unexpected")),
    unavailable: await startBroken(() => new DatabaseUnavailable("ECONNREFUSED")),
  };
  return {
    ...subjects,
    async [Symbol.asyncDispose]() {
      for (const service of Object.values(subjects)) await service[Symbol.asyncDispose]();
    },
  };
}

type Produce = (operation: NamedOperation, subjects: Subjects) => Promise<ReceivedResponse>;

/** By status; `2xx` is any success. */
export const PRODUCERS: Readonly<Record<string, Produce>> = {
  async "2xx"(operation, { working }) {
    const { id: userId, email, password, token } = await working.createUser();
    const user = (await working.database.users.findById(userId)) ?? anybody;
    const bodies: typeof VALID_BODIES = { login: () => ({ email, password }), ...confirmationsOf(user) };
    const todo = await working.call("POST", "/todos", { body: { title: "Buy milk" } });
    const { id } = todo.expect<{ id: number }>(201);
    const body = bodies[operation.operationId ?? ""]?.();
    return send(working, operation, { id, token, ...(body !== undefined && { body }) });
  },
  400: (operation, { working }) =>
    send(working, operation, { body: { token: "forged", password: newCredentials().password } }),
  401: (operation, { working }) => send(working, operation, { token: "not.a.token" }),
  async 403(operation, { working }) {
    const { id, token } = await working.createUser();
    await working.sql(`update users set is_active = false where id = ${id}`);
    return send(working, operation, { token });
  },
  async 404(operation, { working }) {
    const { token } = await working.createUser();
    await working.call("DELETE", "/auth/me", { token });
    return send(working, operation, { token, id: Number.MAX_SAFE_INTEGER });
  },
  async 409(operation, { working }) {
    const { email, username, password } = await working.createUser();
    const { token } = await working.createUser();
    return send(working, operation, { token, body: { email, username, password } });
  },
  async 413({ method, path }, { working }) {
    const target = path.replace("{id}", "1");
    const raw = await working.raw(
      `${method} ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY_MAX_BYTES + 1}\r\nConnection: close\r\n\r\n`,
    );
    const [response] = parseResponses(raw, [method]);
    if (!response) throw new Error("No response");
    const headers = new Headers(response.headers.map(([name, value]): [string, string] => [name, value]));
    return { status: response.status, headers, text: String(response.body) };
  },
  async 422(operation, { working }) {
    const { token } = await working.createUser();
    const texts = ["email", "username", "password", "title", "completed"].map((name) => [name, "x"]);
    // Any text can be a token.
    const oneTimeToken = operation.operationId === "confirmEmailVerification" ? 1 : "x";
    const body = { ...Object.fromEntries(texts), token: oneTimeToken };
    return send(working, operation, {
      token,
      query: "?limit=x",
      id: "x",
      ...(operation.requestBody && { body }),
    });
  },
  async 429(operation, { limited }) {
    await send(limited, operation);
    return send(limited, operation);
  },
  async 500(operation, { failing, working }) {
    const { token } = await working.createUser();
    return send(failing, operation, { token });
  },
  async 503(operation, { unavailable, working }) {
    const { token } = await working.createUser();
    return send(unavailable, operation, { token });
  },
};

function startBroken(error: () => Error): Promise<Service> {
  const refuse = () => Promise.reject(error());
  const refuseAll = <Part extends object>(part: Part): Part => new Proxy(part, { get: () => refuse });
  return startService({
    wrapDatabase: ({ users, todos, outbox }) => ({
      users: refuseAll(users),
      todos: refuseAll(todos),
      outbox: refuseAll(outbox),
      ping: refuse,
    }),
  });
}
