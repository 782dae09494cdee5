/** One method per operation of the API, named like its operation id. Stores the token of the logged-in user. */
import createFetchClient from "openapi-fetch";
import { LatchkeyError } from "./errors.ts";
import { type RetryOptions, withRetries } from "./retry.ts";
import type { operations, paths } from "./schema.ts";
import type {
  CreateTodoRequest,
  LoginRequest,
  PublicKeySet,
  RegisterRequest,
  Todo,
  TodoPage,
  TodoQuery,
  Token,
  UpdateTodoRequest,
  UpdateUserRequest,
  User,
} from "./types.ts";

export interface ClientOptions extends RetryOptions {
  /** Where the service is, for example `https://accounts.example.com`. */
  readonly baseUrl: string;
  /** A stored token, so that a login is not needed. */
  readonly token?: string | undefined;
  /** Sends the requests; must not follow redirects (`request.redirect` is `manual`). @default the global `fetch` */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

export interface RequestOptions {
  /** Aborts the request and its retries; the method rejects with the signal's reason. */
  readonly signal?: AbortSignal | null;
}

/** Every operation has a rate limit, except the probes, which are not for API clients. */
type ApiOperation = {
  [Id in keyof operations]: operations[Id]["responses"] extends { 429: unknown } ? Id : never;
}[keyof operations];
/** Each of them has a method of the same name. */
type Operations = Record<ApiOperation, (...parameters: never[]) => Promise<unknown>>;

/** All methods throw `LatchkeyError` when the service returns an error response. */
export interface Client extends Operations {
  /** The token of the logged-in user, for example to store it; undefined if nobody is logged in. */
  readonly token: string | undefined;
  register(user: RegisterRequest, options?: RequestOptions): Promise<User>;
  /** Stores the token, which the following requests send. */
  login(credentials: LoginRequest, options?: RequestOptions): Promise<Token>;
  /** Forgets the token; sends no request, so the token itself remains valid. `revokeTokens` ends it. */
  logout(): void;
  /** Returns the current user. If the token is not valid any more (`INVALID_TOKEN`), this and the next three methods forget it. */
  getMe(options?: RequestOptions): Promise<User>;
  /** A new password revokes all tokens of the user except the stored one. */
  updateMe(changes: UpdateUserRequest, options?: RequestOptions): Promise<User>;
  /** Deletes the current user and forgets the token. */
  deleteMe(options?: RequestOptions): Promise<void>;
  /** Revokes all tokens of the current user and forgets the stored one. */
  revokeTokens(options?: RequestOptions): Promise<void>;
  /** Returns the public keys that verify tokens, for services that verify tokens themselves. */
  getJwks(options?: RequestOptions): Promise<PublicKeySet>;
  /** Returns one page. */
  listTodos(query?: TodoQuery, options?: RequestOptions): Promise<TodoPage>;
  /** Iterates over all pages, one request each, starting at `cursor` if given. */
  todoPages(query?: TodoQuery, options?: RequestOptions): AsyncGenerator<TodoPage, void, undefined>;
  /** Iterates over the todos of all pages; requests each page when it is needed. */
  todos(query?: TodoQuery, options?: RequestOptions): AsyncGenerator<Todo, void, undefined>;
  createTodo(todo: CreateTodoRequest, options?: RequestOptions): Promise<Todo>;
  getTodo(id: number, options?: RequestOptions): Promise<Todo>;
  updateTodo(id: number, changes: UpdateTodoRequest, options?: RequestOptions): Promise<Todo>;
  deleteTodo(id: number, options?: RequestOptions): Promise<void>;
}

type AuthorizedOptions = Pick<RequestOptions, "signal"> & { readonly headers: Record<string, string> };

interface FetchResult<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * The cast is safe because a success has the data of its operation; those without a body return void.
 * @throws {LatchkeyError} if the response is an error
 */
async function unwrap<Data>(result: Promise<FetchResult<Data>>): Promise<Data> {
  const { data, error, response } = await result;
  if (!response.ok) throw new LatchkeyError(response, error);
  return data as Data;
}

export function createClient({ baseUrl, fetch = globalThis.fetch, ...options }: ClientOptions): Client {
  // A redirect would send passwords and the token to an address that the application did not choose.
  const api = createFetchClient<paths>({ baseUrl, fetch: withRetries(fetch, options), redirect: "manual" });
  let { token } = options;

  /** Forgets the token that a request sent, unless another login has replaced it in the meantime. */
  const forget = (sent: string | undefined): void => {
    if (token === sent) token = undefined;
  };

  /** Calls a protected operation. */
  async function callWithToken<Data>(
    call: (authorized: AuthorizedOptions) => Promise<FetchResult<Data>>,
    requestOptions: RequestOptions = {},
  ): Promise<Data> {
    const sent = token;
    const headers: Record<string, string> = sent === undefined ? {} : { authorization: `Bearer ${sent}` };
    try {
      return await unwrap(call({ ...requestOptions, headers }));
    } catch (error) {
      if (isInvalidToken(error)) forget(sent);
      throw error;
    }
  }

  const client: Client = {
    get token() {
      return token;
    },
    register: (body, init) => unwrap(api.POST("/auth/register", { ...init, body })),
    async login(body, init) {
      const response = await unwrap(api.POST("/auth/login", { ...init, body }));
      token = response.access_token;
      return response;
    },
    logout() {
      token = undefined;
    },
    getMe: (init) => callWithToken((authorized) => api.GET("/auth/me", authorized), init),
    updateMe: (body, init) =>
      callWithToken((authorized) => api.PATCH("/auth/me", { ...authorized, body }), init),
    async deleteMe(init) {
      const sent = token;
      await callWithToken((authorized) => api.DELETE("/auth/me", authorized), init);
      forget(sent);
    },
    getJwks: (init) => unwrap(api.GET("/.well-known/jwks.json", { ...init })),
    async revokeTokens(init) {
      const sent = token;
      await callWithToken((authorized) => api.DELETE("/auth/tokens", authorized), init);
      forget(sent);
    },
    listTodos: (query = {}, init) => unwrap(api.GET("/todos", { ...init, params: { query } })),
    async *todoPages(query = {}, init) {
      let { cursor } = query;
      do {
        const page = await client.listTodos(cursor === undefined ? query : { ...query, cursor }, init);
        yield page;
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
    },
    async *todos(query, init) {
      for await (const { items } of client.todoPages(query, init)) yield* items;
    },
    createTodo: (body, init) => unwrap(api.POST("/todos", { ...init, body })),
    getTodo: (id, init) => unwrap(api.GET("/todos/{id}", { ...init, params: { path: { id } } })),
    updateTodo: (id, body, init) =>
      unwrap(api.PATCH("/todos/{id}", { ...init, params: { path: { id } }, body })),
    deleteTodo: (id, init) => unwrap(api.DELETE("/todos/{id}", { ...init, params: { path: { id } } })),
  };
  return client;
}

/** Only 401 of a protected operation reaches this; services of earlier releases send it without a code. */
const isInvalidToken = (error: unknown): boolean =>
  error instanceof LatchkeyError &&
  error.status === 401 &&
  (error.code ?? "INVALID_TOKEN") === "INVALID_TOKEN";
