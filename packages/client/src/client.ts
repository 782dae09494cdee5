/** The client has one method per operation of the API. The name of a method is the operation id. */
import { readClaims, subjectOf } from "./claims.ts";
import { startDeadline, untilAborted } from "./deadline.ts";
import { createRequestedCodes } from "./email-login.ts";
import { LatchkeyConnectionError, LatchkeyError } from "./errors.ts";
import { createBegunHostedLogin } from "./hosted-login.ts";
import type {
  Client,
  CreatePasskeyRequest,
  EmailLogin,
  Factor,
  HostedLogin,
  Identity,
  LoginRequest,
  Oidc,
  PasskeyLoginRequest,
  Passkeys,
  Token,
} from "./methods.ts";
import { createBegunLogins, createChallenge, createSharedCall } from "./oidc.ts";
import { iterateItems, iteratePages } from "./pages.ts";
import { createAcceptedPasskeys, promptForPasskey } from "./passkeys.ts";
import {
  createTransport,
  type RequestOptions,
  type SendRequest,
  type TransportOptions,
  toPath,
} from "./request.ts";
import { createSession, type SessionOptions } from "./session.ts";

export interface ClientOptions extends TransportOptions, SessionOptions {
  /**
   * Called when the service has rejected the stored token, after the client has forgotten the token. Reasons: the token is no
   * longer valid (401 `INVALID_TOKEN`), the token cannot be renewed (401 `LOGIN_REQUIRED`), the user is inactive (403
   * `INACTIVE_USER`), or the user was deleted (404 `USER_NOT_FOUND`).
   */
  readonly onSessionEnd?: ((error: LatchkeyError) => void) | undefined;
}

/** The maximum duration of one conditional prompt. The `state` of the passkey options is valid for five minutes. */
const CONDITIONAL_MS = 4 * 60 * 1000;

export function createClient(options: ClientOptions): Client {
  const send = createTransport(options);
  const session = createSession(options, `latchkey ${options.baseUrl}`, () => renew());
  const begun = createBegunLogins(`latchkey oidc ${options.baseUrl}`);
  const hosted = createBegunHostedLogin(`latchkey hosted login ${options.baseUrl}`);
  const codes = createRequestedCodes(`latchkey codes ${options.baseUrl}`);
  const accepted = createAcceptedPasskeys(`latchkey passkeys ${options.baseUrl}`);

  const endSession = (error: LatchkeyError, token: string | undefined): void => {
    if (!session.replace(token, undefined)) return;
    void begun.forgetPassword();
    options.onSessionEnd?.(error);
  };

  /** Sends `init.token`. A response that rejects the stored token ends the session. */
  const sendToken: SendRequest = async (method, path, parts, init) => {
    try {
      return await send(method, path, parts, init);
    } catch (error) {
      if (isSessionEnd(error)) endSession(error, init?.token);
      throw error;
    }
  };

  /** Replaces the stored token. Does not wait until that is reported, because the session calls it, too. */
  async function renew(init?: RequestOptions) {
    const token = await session.current();
    const result = await sendToken("POST", "/auth/tokens", { member: "access_token" }, { ...init, token });
    session.replace(token, result.access_token);
    return { token, result };
  }

  /** Sends `init.token`, which is renewed first if it has expired. */
  const sendFresh: SendRequest = async (method, path, parts, init) => {
    const orNotSent = rejectNotSent(method, toPath(path, parts));
    const token = await session.fresh(init?.token, init?.signal).catch(orNotSent);
    try {
      return await send(method, path, parts, { ...init, token });
    } catch (error) {
      if (!isSessionEnd(error)) throw error;
      // The token can have expired although the local clock does not show it, or another tab has renewed the token.
      const isRejected = error.code === "INVALID_TOKEN";
      const renewed = isRejected && (await session.renewalOf(token, init?.signal).catch(orNotSent));
      if (renewed) return await sendToken(method, path, parts, { ...init, token: renewed });
      endSession(error, token);
      throw error;
    }
  };

  /** Calls a protected operation. */
  const sendAuthorized: SendRequest = async (method, path, parts, init) => {
    const token = await session.current();
    // The timer of the renewal is late if the device was asleep.
    session.renewIfDue();
    const result = sendFresh(method, path, parts, { ...init, token });
    // A server has to know the new token before it responds to its own client.
    return await result.finally(() => untilAborted(session.reported(token), init?.signal));
  };

  /** Sends a request that ends the login. */
  async function endLogin(path: "/auth/me" | "/auth/tokens", init?: RequestOptions): Promise<void> {
    const token = await session.current();
    await sendFresh("DELETE", path, {}, { ...init, token });
    void begun.forgetPassword();
    await session.endLogin(token);
  }

  /** The token with which a password was changed cannot be renewed. It remains if the service refuses the login. */
  async function logInAgain(body: LoginRequest, init?: RequestOptions): Promise<void> {
    const token = await session.current();
    const request = send("POST", "/auth/login", { body, member: "access_token" }, init);
    const login = await request.catch(() => undefined);
    if (token === undefined || (await session.current()) !== token) return;
    if (login) await session.store(login.access_token);
    else session.keep(token);
  }

  /** Stores the token of a login. */
  async function logIn(request: Promise<Token>): Promise<Token> {
    const token = await request.catch(offerSecondFactor);
    await session.store(token.access_token);
    return token;
  }

  /** Rejects with the error of a login. If it is that a second factor is required, it gets the method that sends the code. */
  const offerSecondFactor = (error: unknown): never => {
    if (error instanceof LatchkeyError && error.code === "SECOND_FACTOR_REQUIRED") {
      const { state = "" } = error;
      error.finish = (code, init) => factor.login(state, code, init);
    }
    throw error;
  };

  const toEmailLogin = (email: string, state: string): EmailLogin => ({
    email,
    finish: (code, init) =>
      codes.finish(email, state, (state) => {
        const parts = { body: { state, code }, member: "access_token" } as const;
        return logIn(send("POST", "/auth/login/email", parts, init));
      }),
  });

  const passkeys: Passkeys = {
    async create(name, currentPassword, init) {
      const parts = { body: toProof(currentPassword), member: "state" } as const;
      const { options, state } = await sendAuthorized("POST", "/auth/passkeys/options", parts, init);
      type Response = CreatePasskeyRequest["response"];
      const response = await promptForPasskey<Response>("create", { ...init, options });
      await accepted.learn(session.token, options);
      const created = { body: { state, response, name }, member: "id" } as const;
      return sendAuthorized("POST", "/auth/passkeys", created, init);
    },
    async login({ conditional: isConditional = false, ...init } = {}) {
      const { options, state } = await send("POST", "/auth/login/passkey/options", { member: "state" }, init);
      // A conditional prompt can stay open longer than `state` is valid. The login starts again with a new `state` in time.
      const deadline = isConditional ? startDeadline(CONDITIONAL_MS, init.signal) : undefined;
      const signal = deadline ? deadline.signal : init.signal;
      type Response = PasskeyLoginRequest["response"];
      const prompt = promptForPasskey<Response>("get", { options, signal, isConditional });
      const response = await prompt
        .catch((error) => {
          if (!deadline?.isOver) throw error;
        })
        .finally(deadline?.clear);
      if (!response) return passkeys.login({ conditional: isConditional, ...init });
      const parts = { body: { state, response }, member: "access_token" } as const;
      const token = await logIn(send("POST", "/auth/login/passkey", parts, init));
      await accepted.learn(token.access_token, options, response.response.userHandle);
      return token;
    },
    async list(init) {
      const token = await session.current();
      const passkeys = await sendAuthorized("GET", "/auth/passkeys", { member: "length" }, init);
      const ids = passkeys.map(({ id }) => id);
      if (subjectOf(session.token) === subjectOf(token)) await accepted.signal(token, ids);
      return passkeys;
    },
    remove: (id, currentPassword, init) =>
      sendAuthorized("POST", "/auth/passkeys/{id}/removal", removalOf(id, currentPassword), init),
  };

  const factor: Factor = {
    get: (init) => sendAuthorized("GET", "/auth/factor", { member: "created_at" }, init),
    async begin({ currentPassword, code } = {}, init) {
      const body = { ...toProof(currentPassword), ...(code !== undefined && { code }) };
      const parts = { body, member: "state" } as const;
      const { secret, uri, state } = await sendAuthorized("POST", "/auth/factor/options", parts, init);
      return {
        secret,
        uri,
        state,
        finish: (code, emailCode, init) => factor.create({ state, code, emailCode }, init),
      };
    },
    async create({ state, code, emailCode }, init) {
      const email = emailCode !== undefined && { email_code: emailCode };
      const parts = { body: { state, code, ...email }, member: "access_token" } as const;
      const created = await sendAuthorized("POST", "/auth/factor", parts, init);
      await session.store(created.access_token);
      return created.recovery_codes;
    },
    login: (state, code, init) =>
      logIn(send("POST", "/auth/login/factor", { body: { state, code }, member: "access_token" }, init)),
    async createRecoveryCodes({ currentPassword, code }, init) {
      const body = { code, ...toProof(currentPassword) };
      const parts = { body, member: "recovery_codes" } as const;
      const { recovery_codes } = await sendAuthorized("POST", "/auth/factor/recovery-codes", parts, init);
      return recovery_codes;
    },
    async remove({ currentPassword, code }, init) {
      const body = { code, ...toProof(currentPassword) };
      const token = await session.current();
      await sendFresh("POST", "/auth/factor/removal", { body }, { ...init, token });
      await session.endLogin(token);
    },
  };

  const finishing = createSharedCall<Token>();
  const adding = createSharedCall<Identity>();
  const oidc: Oidc = {
    async begin(provider, redirectUri, { currentPassword, ...init } = {}) {
      const { verifier, challenge } = await createChallenge();
      const parts = {
        path: { name: provider },
        body: { redirect_uri: redirectUri, code_challenge: challenge },
        member: "state",
      } as const;
      const { authorization_url, state } = await send("POST", "/auth/login/oidc/{name}/options", parts, init);
      await begun.keep({ provider, state, verifier, password: currentPassword });
      return authorization_url;
    },
    finish(url, { username, ...init } = {}) {
      const call = async (signal: AbortSignal) => {
        const { provider, body } = await begun.take(url);
        const parts = {
          path: { name: provider },
          body: { ...body, ...(username !== undefined && { username }) },
          member: "access_token",
        } as const;
        return await logIn(send("POST", "/auth/login/oidc/{name}", parts, { ...init, signal }));
      };
      return finishing(String(url), call, init.signal);
    },
    add(url, currentPassword, init) {
      const call = async (signal: AbortSignal) => {
        const { provider, body, password } = await begun.take(url);
        const proof = toProof(currentPassword ?? password);
        const parts = { path: { id: provider }, body: { ...body, ...proof }, member: "id" } as const;
        return await sendAuthorized("POST", "/auth/identities/{id}", parts, { ...init, signal });
      };
      return adding(String(url), call, init?.signal);
    },
    list: (init) => sendAuthorized("GET", "/auth/identities", { member: "length" }, init),
    remove: (id, currentPassword, init) =>
      sendAuthorized("POST", "/auth/identities/{id}/removal", removalOf(id, currentPassword), init),
  };

  const finishingHosted = createSharedCall<Token>();
  const hostedLogin: HostedLogin = {
    async begin(clientId, redirectUri, request = {}) {
      const { verifier, challenge } = await createChallenge();
      const { verifier: state } = await createChallenge();
      await hosted.keep({ clientId, redirectUri, state, verifier });
      const { loginHint, acrValues, maxAgeSeconds, prompt } = request;
      const parameters = new URLSearchParams({
        response_type: "code",
        client_id: clientId,
        redirect_uri: redirectUri,
        state,
        code_challenge: challenge,
        code_challenge_method: "S256",
        ...(loginHint !== undefined && { login_hint: loginHint }),
        ...(acrValues !== undefined && { acr_values: acrValues }),
        ...(maxAgeSeconds !== undefined && { max_age: String(maxAgeSeconds) }),
        ...(prompt !== undefined && { prompt }),
      });
      return `${options.baseUrl.replace(/\/$/, "")}/account/authorize?${parameters}`;
    },
    finish(url, init = {}) {
      const call = async (signal: AbortSignal) => {
        const parts = { form: await hosted.take(url), member: "access_token" } as const;
        return await logIn(send("POST", "/oauth/token", parts, { ...init, signal }));
      };
      return finishingHosted(String(url), call, init.signal);
    },
  };

  const client: Client = {
    get token() {
      return session.token;
    },
    get tokenExpiresAt() {
      const { exp } = readClaims(session.token);
      return exp === undefined ? undefined : new Date(exp * 1000);
    },
    passkeys,
    oidc,
    hostedLogin,
    factor,
    async emailLogin(email, init) {
      const parts = { body: { email }, member: "state" } as const;
      const { state } = await send("POST", "/auth/login/email/options", parts, init);
      await codes.keep(email, state);
      return toEmailLogin(email, state);
    },
    async begunEmailLogin(init) {
      const code = await untilAborted(codes.newest(), init?.signal);
      return code && toEmailLogin(code.email, code.state);
    },
    register: (body, init) => send("POST", "/auth/register", { body, member: "id" }, init),
    login: (body, init) => logIn(send("POST", "/auth/login", { body, member: "access_token" }, init)),
    logout() {
      void begun.forgetPassword();
      void session.store(undefined);
    },
    getToken(init) {
      const getRenewed = async () => {
        const token = await session.current();
        await session.renewed(token, init?.signal);
        await session.reported(token);
        return await session.current();
      };
      return untilAborted(getRenewed(), init?.signal);
    },
    getMe: (init) => sendAuthorized("GET", "/auth/me", { member: "id" }, init),
    async updateMe(body, init) {
      const change = () => sendAuthorized("PATCH", "/auth/me", { body, member: "id" }, init);
      const { password } = body;
      if (password === undefined) return await change();
      await client.getToken(init).catch(rejectNotSent("PATCH", "/auth/me"));
      return await session.withoutRenewal(async () => {
        const user = await change();
        await logInAgain({ email: user.email, password }, init);
        return user;
      });
    },
    deleteMe: (init) => endLogin("/auth/me", init),
    revokeTokens: (init) => endLogin("/auth/tokens", init),
    async renewToken(init) {
      const { token, result } = await renew(init);
      await session.reported(token);
      return result;
    },
    requestPasswordReset: (body, init) => send("POST", "/auth/password-reset", { body }, init),
    confirmPasswordReset: (body, init) => send("POST", "/auth/password-reset/confirm", { body }, init),
    requestEmailVerification: (init) => sendAuthorized("POST", "/auth/email-verification", {}, init),
    confirmEmailVerification: (body, init) =>
      send("POST", "/auth/email-verification/confirm", { body }, init),
    requestEmailChange: (body, init) => sendAuthorized("POST", "/auth/email-change", { body }, init),
    approveEmailChange: (body, init) => send("POST", "/auth/email-change/approve", { body }, init),
    confirmEmailChange: (body, init) => send("POST", "/auth/email-change/confirm", { body }, init),
    authorize: (body, init) => sendAuthorized("POST", "/auth/authorize", { body, member: "code" }, init),
    getJwks: (init) => send("GET", "/.well-known/jwks.json", { member: "keys" }, init),
    listTodos: (query, init) => send("GET", "/todos", { query, member: "items" }, init),
    todoPages: (query, init) =>
      iteratePages(
        (cursor) => client.listTodos({ ...query, ...(cursor !== undefined && { cursor }) }, init),
        query?.cursor,
      ),
    todos: (query, init) => iterateItems(client.todoPages(query, init)),
    createTodo: (body, init) => send("POST", "/todos", { body, member: "id" }, init),
    getTodo: (id, init) => send("GET", "/todos/{id}", { path: { id }, member: "id" }, init),
    updateTodo: (id, body, init) => send("PATCH", "/todos/{id}", { path: { id }, body, member: "id" }, init),
    deleteTodo: (id, init) => send("DELETE", "/todos/{id}", { path: { id } }, init),
    close: session.close,
  };
  return client;
}

/** The proof of the owner. A user without a password sends none. */
const toProof = (currentPassword: string | undefined) => ({
  ...(currentPassword !== undefined && { current_password: currentPassword }),
});

const removalOf = <Id>(id: Id, currentPassword: string | undefined) => ({
  path: { id },
  body: toProof(currentPassword),
});

/** Rethrows the error of a renewal as that of the request that waited for it, which was not sent. */
const rejectNotSent =
  (method: string, path: string) =>
  (error: unknown): never => {
    throw error instanceof LatchkeyConnectionError
      ? new LatchkeyConnectionError({ method, path }, error)
      : error;
  };

const SESSION_ENDS: unknown[] = ["INVALID_TOKEN", "LOGIN_REQUIRED", "INACTIVE_USER", "USER_NOT_FOUND"];

/** The 401 of a proxy has no code. `USER_NOT_FOUND` always refers to the user of the token. */
const isSessionEnd = (error: unknown): error is LatchkeyError =>
  error instanceof LatchkeyError && SESSION_ENDS.includes(error.code);
