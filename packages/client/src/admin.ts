/**
 * The client of the administration, `@latchkey/client/admin`: for programs of the operator, never for browsers. The name of a method
 * is the operation id.
 */
import type { operations, paths } from "./admin-schema.ts";
import { iterateItems, iteratePages } from "./pages.ts";
import { createTransport, type RequestOptions, TIMEOUT_MS, type TransportOptions } from "./request.ts";
import type { Json } from "./types.ts";

export { LatchkeyConnectionError, LatchkeyError } from "./errors.ts";
export type { RequestOptions } from "./request.ts";

export interface AdminClientOptions extends TransportOptions {
  /** A key of `ADMIN_API_KEYS`, or one that can only read: of `ADMIN_READ_KEYS` or `ADMIN_EVENT_KEYS`. */
  readonly apiKey: string;
}

type BodyOf<Id extends keyof operations> = operations[Id] extends { requestBody: infer Message }
  ? Json<Message>
  : never;

export type AdminUser = Json<operations["getUser"]["responses"][200]>;
export type AdminUserPage = Json<operations["listUsers"]["responses"][200]>;
/** What happens if the user logs in now: sentences in the order in which the service decides. */
export type AdminExplanation = Json<operations["explainUser"]["responses"][200]>;
export type AccountEventPage = Json<operations["readEvents"]["responses"][200]>;
export type AccountEvent = AccountEventPage["items"][number];
export type AccountEventQuery = NonNullable<operations["readEvents"]["parameters"]["query"]>;
export type AdminStats = Json<operations["countUsers"]["responses"][200]>;
export type CreateAdminUserRequest = BodyOf<"createUser">;
export type UpdateAdminUserRequest = BodyOf<"updateUser">;
export type AdminUserQuery = NonNullable<operations["listUsers"]["parameters"]["query"]>;

/** `reason`: why the change is made. It is only logged. */
export interface ChangeOptions extends RequestOptions {
  readonly reason?: string;
}

/** Every method rejects with `LatchkeyError`, `LatchkeyConnectionError` or the reason of the signal. */
export interface AdminClient {
  listUsers(query?: AdminUserQuery, options?: RequestOptions): Promise<AdminUserPage>;
  /** Iterates over the users of all pages. */
  iterateUsers(query?: AdminUserQuery, options?: RequestOptions): AsyncGenerator<AdminUser, void, undefined>;
  createUser(user: CreateAdminUserRequest, options?: RequestOptions): Promise<AdminUser>;
  getUser(id: number, options?: RequestOptions): Promise<AdminUser>;
  explainUser(id: number, options?: RequestOptions): Promise<AdminExplanation>;
  updateUser(id: number, change: UpdateAdminUserRequest, options?: RequestOptions): Promise<AdminUser>;
  deleteUser(id: number, options?: ChangeOptions): Promise<void>;
  revokeUserTokens(id: number, options?: ChangeOptions): Promise<void>;
  removeUserPasskeys(id: number, options?: ChangeOptions): Promise<void>;
  removeUserFactor(id: number, options?: ChangeOptions): Promise<void>;
  sendUserPasswordReset(id: number, options?: ChangeOptions): Promise<void>;
  countUsers(options?: RequestOptions): Promise<AdminStats>;
  /**
   * Reads account events after the cursor `after`: the `next_cursor` of the previous page. The time limit of the request includes
   * `wait`. Rejects with `CURSOR_EXPIRED` if events are missing: read all users, then continue with a new cursor.
   */
  readEvents(query?: AccountEventQuery, options?: RequestOptions): Promise<AccountEventPage>;
}

export function createAdminClient({ apiKey, ...options }: AdminClientOptions): AdminClient {
  const send = createTransport<paths>(options);
  const withKey = (init: RequestOptions = {}) => ({ ...init, token: apiKey });
  const change = (id: number, { reason, ...init }: ChangeOptions = {}) =>
    [{ path: { id }, query: { ...(reason !== undefined && { reason }) } }, withKey(init)] as const;
  const listUsers: AdminClient["listUsers"] = (query, init) =>
    send("GET", "/admin/users", { query, member: "items" }, withKey(init));
  return {
    listUsers,
    iterateUsers: ({ cursor: first, ...query } = {}, init) =>
      iterateItems(iteratePages((cursor) => listUsers({ ...query, ...(cursor && { cursor }) }, init), first)),
    createUser: (body, init) => send("POST", "/admin/users", { body, member: "id" }, withKey(init)),
    getUser: (id, init) => send("GET", "/admin/users/{id}", { path: { id }, member: "id" }, withKey(init)),
    explainUser: (id, init) =>
      send("GET", "/admin/users/{id}/explanation", { path: { id }, member: "length" }, withKey(init)),
    updateUser: (id, body, init) =>
      send("PATCH", "/admin/users/{id}", { path: { id }, body, member: "id" }, withKey(init)),
    deleteUser: (id, init) => send("DELETE", "/admin/users/{id}", ...change(id, init)),
    revokeUserTokens: (id, init) => send("DELETE", "/admin/users/{id}/tokens", ...change(id, init)),
    removeUserPasskeys: (id, init) => send("DELETE", "/admin/users/{id}/passkeys", ...change(id, init)),
    removeUserFactor: (id, init) => send("DELETE", "/admin/users/{id}/factor", ...change(id, init)),
    sendUserPasswordReset: (id, init) =>
      send("POST", "/admin/users/{id}/password-reset", ...change(id, init)),
    readEvents: (query, init = {}) => {
      const timeoutMs = (init.timeoutMs ?? options.timeoutMs ?? TIMEOUT_MS) + (query?.wait ?? 0) * 1000;
      return send("GET", "/admin/events", { query, member: "items" }, withKey({ ...init, timeoutMs }));
    },
    countUsers: (init) => send("GET", "/admin/stats", { member: "users" }, withKey(init)),
  };
}
