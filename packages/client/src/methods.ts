/**
 * The public types of the client: the shapes of requests and responses, and the methods. There is one method per operation of the
 * API, of the same name, and some combine operations.
 */
import type { RequestOptions } from "./request.ts";
import type { operations } from "./schema.ts";
import type { RequestOf, ResponseOf } from "./types.ts";

export type RegisterRequest = RequestOf<"register">;
export type LoginRequest = RequestOf<"login">;
/** The service ignores `email` in this request, so the type rejects `email`. */
export type UpdateUserRequest = RequestOf<"updateMe"> & { readonly email?: never };
export type PasswordResetRequest = RequestOf<"requestPasswordReset">;
export type PasswordResetConfirmation = RequestOf<"confirmPasswordReset">;
export type EmailVerificationConfirmation = RequestOf<"confirmEmailVerification">;
export type EmailChangeRequest = RequestOf<"requestEmailChange">;
export type EmailChangeApproval = RequestOf<"approveEmailChange">;
export type EmailChangeConfirmation = RequestOf<"confirmEmailChange">;
export type CreateTodoRequest = RequestOf<"createTodo">;
export type UpdateTodoRequest = RequestOf<"updateTodo">;
/** `limit`: todos per page, 1 to 100. `cursor`: the `next_cursor` of the previous page. */
export type TodoQuery = NonNullable<operations["listTodos"]["parameters"]["query"]>;
export type User = ResponseOf<"getMe">[200];
export type Token = ResponseOf<"login">[200];
export type CreatePasskeyRequest = RequestOf<"createPasskey">;
export type PasskeyLoginRequest = RequestOf<"passkeyLogin">;
export type Passkey = ResponseOf<"createPasskey">[201];
export type SecondFactor = ResponseOf<"getFactor">[200];
export type Identity = ResponseOf<"addIdentity">[201];
export type AuthorizationRequest = RequestOf<"authorize">;
export type AuthorizationResponse = ResponseOf<"authorize">[200];
export type PublicKeySet = ResponseOf<"getJwks">[200];
export type Todo = ResponseOf<"getTodo">[200];
export type TodoPage = ResponseOf<"listTodos">[200];

/** All operations except the health probes, which API clients do not need. Only the probes have no rate limit and no 429. */
type ApiOperation = {
  [Id in keyof operations]: operations[Id]["responses"] extends { 429: unknown } ? Id : never;
}[keyof operations];
type PasskeyOperation = Extract<ApiOperation, `${string}asskey${string}`>;
type FactorOperation = Extract<
  ApiOperation,
  `${string}Factor${string}` | `factor${string}` | `${string}RecoveryCodes`
>;
type IdentityOperation = Extract<ApiOperation, `oidc${string}` | `${string}Identit${string}`>;
/** Those of OAuth have methods in {@link HostedLogin}; libraries read the metadata. */
type OAuthOperation = "exchangeCode" | "getAuthorizationServer";
/**
 * Each operation has a method of the same name. The operations of passkeys have methods in {@link Passkeys}, those of identities in
 * {@link Oidc}, and those of second factors in {@link Factor}. {@link Client.emailLogin} combines two.
 */
type Operations = Record<
  Exclude<
    ApiOperation,
    PasskeyOperation | IdentityOperation | FactorOperation | OAuthOperation | "emailLoginOptions"
  >,
  (...parameters: never[]) => Promise<unknown>
>;

/** What proves the owner: the password, which users without one omit, and a code of the second factor or a recovery code. */
export interface FactorProof {
  readonly currentPassword?: string | undefined;
  readonly code: string;
}

/** A second factor that is not confirmed. */
export interface BegunFactor {
  /** For users who cannot scan the QR code. */
  readonly secret: string;
  /** The content of the QR code. */
  readonly uri: string;
  /** For {@link Factor.create}, within ten minutes, for example after a reload of the page. */
  readonly state: string;
  /**
   * Sets up the second factor, stores the new token, because all others end, and returns the recovery codes.
   * @param code of the application
   * @param emailCode the code from the mail. Required if the service sends mail
   */
  finish(code: string, emailCode?: string, options?: RequestOptions): Promise<string[]>;
}

/**
 * Methods for second factors. The service must have them enabled. A login of a user who has one throws a `LatchkeyError` with the code
 * `SECOND_FACTOR_REQUIRED`, whose `finish` sends the code.
 */
export interface Factor {
  /** @throws LatchkeyError `FACTOR_NOT_FOUND` if the user has no second factor */
  get(options?: RequestOptions): Promise<SecondFactor>;
  /** @param proof a user who has a second factor also sends a code of it, and replaces it */
  begin(proof?: Partial<FactorProof>, options?: RequestOptions): Promise<BegunFactor>;
  /** As {@link BegunFactor.finish}, with the `state` of a {@link BegunFactor} that the application has kept. */
  create(
    confirmation: { readonly state: string; readonly code: string; readonly emailCode?: string | undefined },
    options?: RequestOptions,
  ): Promise<string[]>;
  /** Completes a login with the `state` of its error `SECOND_FACTOR_REQUIRED`, which is valid for five minutes, also after a reload. */
  login(state: string, code: string, options?: RequestOptions): Promise<Token>;
  createRecoveryCodes(proof: FactorProof, options?: RequestOptions): Promise<string[]>;
  /** Ends all tokens of the user, and forgets the stored one. */
  remove(proof: FactorProof, options?: RequestOptions): Promise<void>;
}

/**
 * Methods for passkeys. The service must have passkeys enabled. `create` and `login` work in browsers only, and also throw
 * `LatchkeyPasskeyError`, whose `reason` says why there is no passkey.
 */
export interface Passkeys {
  /** Creates a passkey for the current user. A user without a password must have logged in recently. */
  create(name: string, currentPassword?: string, options?: RequestOptions): Promise<Passkey>;
  /**
   * Logs in and stores the token. With `conditional`, the browser offers passkeys in a field with the attribute
   * `autocomplete="username webauthn"`. Abort a conditional login with `signal` before another login.
   */
  login(options?: RequestOptions & { readonly conditional?: boolean }): Promise<Token>;
  /** Also tells the browser which passkeys are left, so that it does not offer removed ones, if this tab has created or used one. */
  list(options?: RequestOptions): Promise<Passkey[]>;
  /** @param currentPassword undefined: the user has no password, and logged in within the last five minutes */
  remove(id: string, currentPassword?: string, options?: RequestOptions): Promise<void>;
}

/**
 * Methods for logins with OpenID Connect providers. The service must have providers. `finish` and `add` also throw
 * `LatchkeyOidcError`, whose `reason` says why the address contains no login for this tab.
 */
export interface Oidc {
  /**
   * Returns the page of the provider, to which the application sends the browser. `redirectUri` must be configured exactly so. The tab
   * keeps `currentPassword` for `add`: until `finish` or `add` reads the response, `logout`, or the first page after ten minutes.
   */
  begin(
    provider: string,
    redirectUri: string,
    options?: RequestOptions & { readonly currentPassword?: string | undefined },
  ): Promise<string>;
  /**
   * Logs in with the address to which the provider has redirected the browser, and stores the token. Calls at the same time are one
   * request.
   */
  finish(url: string | URL, options?: RequestOptions & { readonly username?: string }): Promise<Token>;
  /**
   * Adds an identity to the current user, with such an address. A user without a password must have logged in recently.
   * @param currentPassword default: that of `begin`
   */
  add(url: string | URL, currentPassword?: string, options?: RequestOptions): Promise<Identity>;
  list(options?: RequestOptions): Promise<Identity[]>;
  /** @param currentPassword undefined: the user has no password, and logged in within the last five minutes */
  remove(id: number, currentPassword?: string, options?: RequestOptions): Promise<void>;
}

/** What an application asks of a login on the pages of the service. */
export interface HostedLoginRequest {
  /** The e-mail that the page suggests. */
  readonly loginHint?: string | undefined;
  /** The page asks for a second factor. Check the claim `acr` of the token: a user can change the address of the page. */
  readonly acrValues?: "2fa" | undefined;
  /** Always met, because the page logs in anew. */
  readonly maxAgeSeconds?: number | undefined;
  /** `create` shows the registration first. */
  readonly prompt?: "create" | undefined;
}

/**
 * Methods for logins on the pages of the service, which must have this application as a client. `finish` also throws
 * `LatchkeyHostedLoginError`, whose `reason` says why the address contains no login for this tab.
 */
export interface HostedLogin {
  /** Returns the page, to which the application sends the browser. `redirectUri` must be configured exactly so. */
  begin(clientId: string, redirectUri: string, request?: HostedLoginRequest): Promise<string>;
  /**
   * Logs in with the address to which the page has redirected the browser, and stores the token. Calls at the same time are one
   * request.
   */
  finish(url: string | URL, options?: RequestOptions): Promise<Token>;
}

/** A login whose code was requested. */
export interface EmailLogin {
  readonly email: string;
  /**
   * Logs in with the code from the mail, and stores the token. Every code that this tab requested for the e-mail in the last ten minutes
   * is accepted: one request for each, the newest first.
   */
  finish(code: string, options?: RequestOptions): Promise<Token>;
}

/** All methods throw `LatchkeyError` for an error response and `LatchkeyConnectionError` if there is no response. */
export interface Client extends Operations {
  /** The token of the logged-in user; undefined if no user is logged in. */
  readonly token: string | undefined;
  /**
   * Returns a token for the application's own services, which is renewed first if that is due; undefined if no user is logged in.
   * Without renewals, the token can have expired.
   */
  getToken(options?: Pick<RequestOptions, "signal">): Promise<string | undefined>;
  /** When `token` expires. */
  readonly tokenExpiresAt: Date | undefined;
  readonly passkeys: Passkeys;
  readonly oidc: Oidc;
  readonly hostedLogin: HostedLogin;
  readonly factor: Factor;
  /** Requests a mail with a code to log in. Resolves even if no user has the e-mail. */
  emailLogin(email: string, options?: RequestOptions): Promise<EmailLogin>;
  /** The login whose code this tab requested last, for example before a reload; undefined if no code is valid any more. */
  begunEmailLogin(options?: Pick<RequestOptions, "signal">): Promise<EmailLogin | undefined>;
  register(user: RegisterRequest, options?: RequestOptions): Promise<User>;
  /** Logs in and stores the token. Later requests send the stored token. */
  login(credentials: LoginRequest, options?: RequestOptions): Promise<Token>;
  /**
   * Forgets the token without sending a request. The token remains valid until it expires, and can be renewed: use `revokeTokens` to end
   * all tokens of the user.
   */
  logout(): void;
  /** Returns the current user. Like every method that sends the token, forgets the token if the service rejects it. */
  getMe(options?: RequestOptions): Promise<User>;
  /**
   * A new password revokes all tokens of the user except the stored one, which can no longer be renewed. The client therefore logs in with
   * the new password. If the service refuses that, the stored token remains until it expires.
   */
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
  /**
   * Requests a mail to the present address, or to the new one if the present one is not verified. Resolves even if the address
   * is taken. The present address cancels the change.
   */
  requestEmailChange(request: EmailChangeRequest, options?: RequestOptions): Promise<void>;
  /** Approves the change with the token of the link. Requests a mail to the new address, whose link confirms the change. */
  approveEmailChange(request: EmailChangeApproval, options?: RequestOptions): Promise<void>;
  /** Changes the e-mail with the token of the link, and revokes all tokens of the user. */
  confirmEmailChange(request: EmailChangeConfirmation, options?: RequestOptions): Promise<void>;
  /** Returns a code for an application, for the page of hosted logins. The current user must have logged in recently. */
  authorize(request: AuthorizationRequest, options?: RequestOptions): Promise<AuthorizationResponse>;
  /** Returns the public keys that verify tokens, for services that verify tokens themselves. */
  getJwks(options?: RequestOptions): Promise<PublicKeySet>;
  /** Returns one page. */
  listTodos(query?: TodoQuery, options?: RequestOptions): Promise<TodoPage>;
  /** Iterates over all pages from `cursor` on, one request per page. After an error, `next` requests the same page again. */
  todoPages(query?: TodoQuery, options?: RequestOptions): AsyncGenerator<TodoPage, void, undefined>;
  /** Iterates over the todos of all pages. Requests each page only when the page is needed. */
  todos(query?: TodoQuery, options?: RequestOptions): AsyncGenerator<Todo, void, undefined>;
  createTodo(todo: CreateTodoRequest, options?: RequestOptions): Promise<Todo>;
  getTodo(id: number, options?: RequestOptions): Promise<Todo>;
  updateTodo(id: number, changes: UpdateTodoRequest, options?: RequestOptions): Promise<Todo>;
  deleteTodo(id: number, options?: RequestOptions): Promise<void>;
  /** Stops the renewal and no longer follows other tabs. Requests remain possible. Call it for each client of a server. */
  close(): void;
}
