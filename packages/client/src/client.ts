/** The client has one method per operation of the API. The name of a method is the operation id. */
import createFetchClient from "openapi-fetch";
import { LatchkeyError } from "./errors.ts";
import { promptForPasskey } from "./passkeys.ts";
import { type RetryOptions, withRetries } from "./retry.ts";
import type { operations, paths } from "./schema.ts";
import { createSession, readClaims, type SessionOptions } from "./session.ts";
import type {
  CreatePasskeyRequest,
  CreateTodoRequest,
  EmailChangeConfirmation,
  EmailChangeRequest,
  EmailVerificationConfirmation,
  ErrorCode,
  LoginRequest,
  Passkey,
  PasskeyLoginRequest,
  PasswordResetConfirmation,
  PasswordResetRequest,
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

export interface ClientOptions extends RetryOptions, SessionOptions {
  /** The URL of the service, for example `https://accounts.example.com`. */
  readonly baseUrl: string;
  /**
   * Called when the service has rejected the stored token, after the client has forgotten the token. Reasons: the token is no
   * longer valid (401 `INVALID_TOKEN`), the token cannot be renewed (401 `LOGIN_REQUIRED`), the user is inactive (403
   * `INACTIVE_USER`), or the user was deleted (404 `USER_NOT_FOUND`).
   */
  readonly onSessionEnd?: ((error: LatchkeyError) => void) | undefined;
  /** Sends a request. Must not follow redirects: `request.redirect` is `manual`. @default the global `fetch` */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

export interface RequestOptions extends Pick<RetryOptions, "timeoutMs"> {
  /** Aborts the request and all retries. The method then rejects with the signal's reason. */
  readonly signal?: AbortSignal | null;
}

/** All operations except the health probes, which API clients do not need. Only the probes have no rate limit and no 429. */
type ApiOperation = {
  [Id in keyof operations]: operations[Id]["responses"] extends { 429: unknown } ? Id : never;
}[keyof operations];
type PasskeyOperation = Extract<ApiOperation, `${string}asskey${string}`>;
/** Each operation has a method of the same name. The operations of passkeys have methods in {@link Passkeys}. */
type Operations = Record<
  Exclude<ApiOperation, PasskeyOperation>,
  (...parameters: never[]) => Promise<unknown>
>;

/**
 * Methods for passkeys. The service must have passkeys enabled. `create` and `login` work in browsers only, and also throw
 * `LatchkeyPasskeyError` with the reason `not_supported`, `cancelled` or `timed_out`.
 */
export interface Passkeys {
  /** Creates a passkey for the current user. */
  create(name: string, currentPassword: string, options?: RequestOptions): Promise<Passkey>;
  /**
   * Logs in and stores the token. With `conditional`, the browser offers passkeys in a field with the attribute
   * `autocomplete="username webauthn"`. Abort a conditional login with `signal` before another login.
   */
  login(options?: RequestOptions & { readonly conditional?: boolean }): Promise<Token>;
  list(options?: RequestOptions): Promise<Passkey[]>;
  remove(id: string, options?: RequestOptions): Promise<void>;
}

/** All methods throw `LatchkeyError` for an error response and `LatchkeyConnectionError` if there is no response. */
export interface Client extends Operations {
  /** The token of the logged-in user; undefined if no user is logged in. */
  readonly token: string | undefined;
  /** When `token` expires. */
  readonly tokenExpiresAt: Date | undefined;
  readonly passkeys: Passkeys;
  register(user: RegisterRequest, options?: RequestOptions): Promise<User>;
  /** Logs in and stores the token. Later requests send the stored token. */
  login(credentials: LoginRequest, options?: RequestOptions): Promise<Token>;
  /** Forgets the token without sending a request. The token remains valid: use `revokeTokens` to revoke tokens. */
  logout(): void;
  /** Returns the current user. Like every method that sends the token, forgets the token if the service rejects it. */
  getMe(options?: RequestOptions): Promise<User>;
  /** A new password revokes all tokens of the user except the stored token. */
  updateMe(changes: UpdateUserRequest, options?: RequestOptions): Promise<User>;
  /** Deletes the current user and forgets the token. */
  deleteMe(options?: RequestOptions): Promise<void>;
  /** Revokes all tokens of the current user and forgets the stored token. */
  revokeTokens(options?: RequestOptions): Promise<void>;
  /** Replaces the stored token with a new token of the same login, if the service renews tokens. */
  renewToken(options?: RequestOptions): Promise<Token>;
  /** Requests a mail with a link that resets the password. Resolves even if no user has the e-mail. */
  requestPasswordReset(request: PasswordResetRequest, options?: RequestOptions): Promise<void>;
  /** Sets a new password with the token of the link, and revokes all tokens of the user. */
  confirmPasswordReset(request: PasswordResetConfirmation, options?: RequestOptions): Promise<void>;
  /** Requests a mail with a link that verifies the e-mail of the current user. */
  requestEmailVerification(options?: RequestOptions): Promise<void>;
  /** Verifies an e-mail with the token of the link. */
  confirmEmailVerification(request: EmailVerificationConfirmation, options?: RequestOptions): Promise<void>;
  /** Requests a mail to the new address. The link in the mail confirms the change. Resolves even if the address is taken. */
  requestEmailChange(request: EmailChangeRequest, options?: RequestOptions): Promise<void>;
  /** Changes the e-mail with the token of the link, and revokes all tokens of the user. */
  confirmEmailChange(request: EmailChangeConfirmation, options?: RequestOptions): Promise<void>;
  /** Returns the public keys that verify tokens, for services that verify tokens themselves. */
  getJwks(options?: RequestOptions): Promise<PublicKeySet>;
  /** Returns one page. */
  listTodos(query?: TodoQuery, options?: RequestOptions): Promise<TodoPage>;
  /** Iterates over all pages, starting at `cursor` if given. Sends one request per page. */
  todoPages(query?: TodoQuery, options?: RequestOptions): AsyncGenerator<TodoPage, void, undefined>;
  /** Iterates over the todos of all pages. Requests each page only when the page is needed. */
  todos(query?: TodoQuery, options?: RequestOptions): AsyncGenerator<Todo, void, undefined>;
  createTodo(todo: CreateTodoRequest, options?: RequestOptions): Promise<Todo>;
  getTodo(id: number, options?: RequestOptions): Promise<Todo>;
  updateTodo(id: number, changes: UpdateTodoRequest, options?: RequestOptions): Promise<Todo>;
  deleteTodo(id: number, options?: RequestOptions): Promise<void>;
}

/** The maximum duration of one conditional prompt. The `state` of the passkey options is valid for five minutes. */
const CONDITIONAL_MS = 4 * 60 * 1000;

interface FetchResult<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * The cast is safe because a success response contains the data of the operation, and operations without a body return void.
 * @throws {LatchkeyError} if the response is an error
 */
async function unwrap<Data>(result: Promise<FetchResult<Data>>): Promise<Data> {
  const { data, error, response } = await result;
  if (!response.ok) throw new LatchkeyError(response, error);
  return data as Data;
}

export function createClient({ baseUrl, fetch = globalThis.fetch, ...options }: ClientOptions): Client {
  // A redirect would send passwords and the token to an address that the application did not choose.
  const api = createFetchClient<paths>({ baseUrl, redirect: "manual" });
  const initOf = ({ signal, timeoutMs = options.timeoutMs }: RequestOptions = {}, token?: string) => ({
    ...(signal && { signal }),
    headers: { authorization: token === undefined ? undefined : `Bearer ${token}` },
    fetch: withRetries(fetch, { ...options, timeoutMs }),
  });

  const session = createSession(options, `latchkey ${baseUrl}`, () => client.renewToken());

  type Call<Data> = (init: ReturnType<typeof initOf>) => Promise<FetchResult<Data>>;

  async function sendWithToken<Data>(call: Call<Data>, init?: RequestOptions): Promise<Data> {
    const sent = session.token;
    try {
      return await unwrap(call(initOf(init, sent)));
    } catch (error) {
      if (isSessionEnd(error) && session.replace(sent, undefined)) options.onSessionEnd?.(error);
      throw error;
    }
  }

  /** Calls a protected operation. */
  function callWithToken<Data>(call: Call<Data>, init?: RequestOptions): Promise<Data> {
    // The timer of the renewal is late if the device was asleep.
    session.renewIfDue();
    return sendWithToken(call, init);
  }

  /**
   * Calls an operation that replaces or ends the token. No renewal is needed before such an operation.
   * @param store updates the session after a success; `sent` is the token in the request
   */
  async function replaceToken<Data>(
    call: Call<Data>,
    store: (sent: string | undefined, data: Data) => void,
    init?: RequestOptions,
  ) {
    session.synchronize();
    const sent = session.token;
    const data = await sendWithToken(call, init);
    store(sent, data);
    return data;
  }

  /** Stores the token of a login. */
  async function logIn(result: Promise<FetchResult<Token>>): Promise<Token> {
    const token = await unwrap(result);
    session.store(token.access_token);
    return token;
  }

  const client: Client = {
    get token() {
      return session.token;
    },
    get tokenExpiresAt() {
      const { exp } = readClaims(session.token);
      return exp === undefined ? undefined : new Date(exp * 1000);
    },
    passkeys: {
      async create(name, currentPassword, init) {
        const { options, state } = await callWithToken((authorized) => {
          const body = { current_password: currentPassword };
          return api.POST("/auth/passkeys/options", { ...authorized, body });
        }, init);
        const response = promptForPasskey<CreatePasskeyRequest["response"]>("create", { ...init, options });
        const body = { state, response: await response, name };
        return callWithToken((authorized) => api.POST("/auth/passkeys", { ...authorized, body }), init);
      },
      async login({ conditional: isConditional = false, ...init } = {}) {
        const { options, state } = await unwrap(api.POST("/auth/login/passkey/options", initOf(init)));
        // A conditional prompt can stay open longer than `state` is valid. The login starts again with a new `state` in time.
        const isOver = AbortSignal.timeout(CONDITIONAL_MS);
        const signal = isConditional ? AbortSignal.any([isOver, init.signal ?? isOver]) : init.signal;
        type Response = PasskeyLoginRequest["response"];
        const prompt = promptForPasskey<Response>("get", { options, signal, isConditional });
        const response = await prompt.catch((error) => {
          if (error !== isOver.reason) throw error;
        });
        if (!response) return client.passkeys.login({ conditional: isConditional, ...init });
        return logIn(api.POST("/auth/login/passkey", { ...initOf(init), body: { state, response } }));
      },
      list: (init) => callWithToken((authorized) => api.GET("/auth/passkeys", authorized), init),
      remove: (id, init) =>
        callWithToken(
          (authorized) => api.DELETE("/auth/passkeys/{id}", { ...authorized, params: { path: { id } } }),
          init,
        ),
    },
    register: (body, init) => unwrap(api.POST("/auth/register", { ...initOf(init), body })),
    login: (body, init) => logIn(api.POST("/auth/login", { ...initOf(init), body })),
    logout: () => session.store(undefined),
    getMe: (init) => callWithToken((authorized) => api.GET("/auth/me", authorized), init),
    updateMe: (body, init) =>
      callWithToken((authorized) => api.PATCH("/auth/me", { ...authorized, body }), init),
    deleteMe: (init) =>
      replaceToken((authorized) => api.DELETE("/auth/me", authorized), session.endLogin, init),
    renewToken: (init) =>
      replaceToken(
        (authorized) => api.POST("/auth/tokens", authorized),
        (sent, token) => session.replace(sent, accessTokenOf(token)),
        init,
      ),
    requestPasswordReset: (body, init) => unwrap(api.POST("/auth/password-reset", { ...initOf(init), body })),
    confirmPasswordReset: (body, init) =>
      unwrap(api.POST("/auth/password-reset/confirm", { ...initOf(init), body })),
    requestEmailVerification: (init) =>
      callWithToken((authorized) => api.POST("/auth/email-verification", authorized), init),
    confirmEmailVerification: (body, init) =>
      unwrap(api.POST("/auth/email-verification/confirm", { ...initOf(init), body })),
    requestEmailChange: (body, init) =>
      callWithToken((authorized) => api.POST("/auth/email-change", { ...authorized, body }), init),
    confirmEmailChange: (body, init) =>
      unwrap(api.POST("/auth/email-change/confirm", { ...initOf(init), body })),
    getJwks: (init) => unwrap(api.GET("/.well-known/jwks.json", initOf(init))),
    revokeTokens: (init) =>
      replaceToken((authorized) => api.DELETE("/auth/tokens", authorized), session.endLogin, init),
    listTodos: (query = {}, init) => unwrap(api.GET("/todos", { ...initOf(init), params: { query } })),
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
    createTodo: (body, init) => unwrap(api.POST("/todos", { ...initOf(init), body })),
    getTodo: (id, init) => unwrap(api.GET("/todos/{id}", { ...initOf(init), params: { path: { id } } })),
    updateTodo: (id, body, init) =>
      unwrap(api.PATCH("/todos/{id}", { ...initOf(init), params: { path: { id } }, body })),
    deleteTodo: (id, init) =>
      unwrap(api.DELETE("/todos/{id}", { ...initOf(init), params: { path: { id } } })),
  };
  return client;
}

/** @throws {TypeError} if a proxy answered without a token. The client then keeps its token */
const accessTokenOf = ({ access_token }: Token): string => access_token.trim();

const SESSION_ENDS: ErrorCode[] = ["INVALID_TOKEN", "LOGIN_REQUIRED", "INACTIVE_USER", "USER_NOT_FOUND"];

/** Earlier releases of the service send 401 without a code. `USER_NOT_FOUND` always refers to the user of the token. */
const isSessionEnd = (error: unknown): error is LatchkeyError =>
  error instanceof LatchkeyError &&
  (error.code == null ? error.status === 401 : SESSION_ENDS.includes(error.code));
