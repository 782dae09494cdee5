/**
 * Registers operations with Elysia. A request to an operation passes the same steps in the same order, wherever the operation is
 * registered: parse, token, validation, own limit, handler. The default limit has counted it before these steps.
 */
import type { EmailDigest } from "@latchkey/database";
import { type Context, Elysia } from "elysia";
import { type RequestEntry, requestEntry } from "../elysia/request-entry.ts";
import { addRoute, synchronous } from "../elysia/workarounds.ts";
import { ignoreBody, jsonBody } from "../http/body.ts";
import { formBody, formValidator } from "../http/form.ts";
import type { Operation } from "../http/operation.ts";
import { expectNoParameters, queryValidator, validator } from "../http/validator.ts";
import type { LoginStep } from "../observability/metrics.ts";
import type { RequestContext } from "../request-context.ts";
import { clientKey } from "./client-address.ts";
import { addressLimit, type RateLimiters } from "./rate-limit.ts";

/** The parts of a request that can show who sent it. */
interface UnauthenticatedRequest {
  readonly request: Request;
  readonly clientAddress: string;
  readonly entry: RequestEntry;
}

/** Returns who sent the request. @throws the error that the client receives */
export type Authenticate<Caller> = (
  request: UnauthenticatedRequest,
  options: Pick<Operation<Caller>, "acceptsIdleToken">,
) => Promise<Caller>;

interface OperationsOptions<Caller> {
  readonly authenticate: Authenticate<Caller>;
  /** null: rate limits are disabled. */
  readonly limiters: RateLimiters | null;
  readonly digestEmail: EmailDigest;
}

type Input = Parameters<Operation<unknown>["handler"]>[0];

/** The members of Elysia's context that the steps use. */
interface StepContext extends UnauthenticatedRequest, Pick<Input, "body" | "params"> {
  readonly set: Context["set"];
}

/**
 * Elysia parses whatever the source of a handler mentions, so each handler names the members that it reads
 * (`elysia/request-entry.ts`). A GET request has no `parse`, because the router never parses its body.
 */
export function registerOperations<Caller>(
  operations: readonly Operation<Caller>[],
  options: OperationsOptions<Caller>,
) {
  const router = new Elysia({ name: "operations" }).use(requestEntry());
  for (const operation of operations) {
    const { method, path, body, form, isStatic } = operation;
    const parseBody = form ? formBody : jsonBody;
    const handler = isStatic ? staticSteps(operation, options) : steps(operation, options);
    addRoute(router, method, path, handler, {
      ...(method !== "GET" && { parse: [body ? parseBody(body) : ignoreBody] }),
    });
  }
  return router;
}

/** The steps of an operation that waits for nothing and reads nothing. */
function staticSteps<Caller>(operation: Operation<Caller>, options: OperationsOptions<Caller>) {
  const { handler, success } = operation;
  const contextOf = createContextFor(handler);
  const input = { body: {}, params: {}, query: {}, principal: undefined };
  return synchronous(({ clientAddress, entry, request, set }: StepContext) => {
    set.status = success.status;
    return handler(input, contextOf({ clientAddress, entry, request, set }, options));
  });
}

/** Returns null for an operation that is no step of a login. */
function loginStepOf({ loginMethod, beginsLogin }: Operation<never>) {
  const method = loginMethod ?? beginsLogin;
  if (!method) return null;
  const isLast = loginMethod !== undefined;
  return (params: Input["params"]): LoginStep => ({
    method,
    isLast,
    provider: String(Object(params).name ?? ""),
  });
}

/** The steps after parsing. The status is set last, because an error replaces it. */
function steps<Caller>(operation: Operation<Caller>, options: OperationsOptions<Caller>) {
  const { params, body, refineBody, query, normalizeQuery, requiresToken, success } = operation;
  const { exception, rejectsUnknownParameters: rejectsUnknown, form } = operation;
  const { authenticate } = options;
  const handle: Operation<unknown>["handler"] = operation.handler;
  const checkParams = params ? validator(params, "path") : noInput;
  const checkJson = body ? validator(body, "body", refineBody) : noInput;
  const checkBody = body && form ? formValidator(body, form.check) : checkJson;
  const checkException = exception ? validator(exception.body, "body", refineBody) : checkBody;
  const withoutQuery = rejectsUnknown ? expectNoParameters : noInput;
  const readQuery = query
    ? queryValidator(query, { normalize: normalizeQuery, rejectsUnknown })
    : withoutQuery;
  const limit = ownLimit(operation, options.limiters);
  const loginStep = loginStepOf(operation);
  const contextOf = createContextFor(handle);
  return async ({ body, clientAddress, entry, params, request, set }: StepContext) => {
    if (loginStep) entry.login = loginStep(params);
    const principal = requiresToken
      ? await authenticate({ clientAddress, entry, request }, operation)
      : undefined;
    const input: Input = {
      principal,
      params: checkParams(params),
      query: readQuery(request.url),
      body: (principal !== undefined && exception?.applies(principal) ? checkException : checkBody)(body),
    };
    const rejection = limit && (await limit({ body: input.body, clientAddress, entry, request, set }));
    if (rejection) return rejection;
    set.status = success.status;
    return handle(input, contextOf({ clientAddress, entry, request, set }, options));
  };
}

const noInput = () => ({});

/**
 * A handler that declares one parameter gets no context: making it costs 3 % of the requests/s of `/healthz` and 2 % of those of
 * `/auth/me`. The cast is safe because such a handler cannot read it.
 */
const createContextFor = ({ length }: { readonly length: number }): typeof createContext =>
  length > 1 ? createContext : () => undefined as never;

/** Returns the response if it rejects the request. */
function ownLimit<Caller>({ limit }: Operation<Caller>, limiters: RateLimiters | null) {
  if (limiters === null || limit === undefined || limit === "none") return null;
  const limiter = limiters[limit.quota];
  if (limit.per === "rejection") return null;
  if (limit.per !== "user") return addressLimit(limiter);
  return async ({ body, clientAddress, entry, set }: Omit<StepContext, "params">): Promise<undefined> => {
    if (!limit.applies || limit.applies(body))
      await limiter.limitUser({ clientAddress, headers: set.headers }, entry.userId);
  };
}

function createContext(
  { clientAddress, entry, request, set }: UnauthenticatedRequest & Pick<StepContext, "set">,
  { digestEmail, limiters }: Pick<OperationsOptions<unknown>, "digestEmail" | "limiters">,
): RequestContext {
  return {
    response: set,
    get signal() {
      return request.signal;
    },
    get network() {
      return clientKey(clientAddress);
    },
    audit(event, email, userId, details) {
      const emailDigest = email === null ? undefined : digestEmail(email);
      entry.audit ??= [];
      entry.audit.push({ event, userId, emailDigest, ...details });
    },
    rehashed(format, { id: userId, email }) {
      entry.rehash = { event: "password.rehashed", format, userId, emailDigest: digestEmail(email) };
    },
    warn(error) {
      entry.error = error;
    },
    async countAgainst(quota) {
      await limiters?.[quota].limitAddress({ clientAddress, headers: set.headers });
    },
  };
}
