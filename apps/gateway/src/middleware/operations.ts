/**
 * Registers operations with Elysia. A request to an operation passes the same steps in the same order, wherever the operation is
 * registered: parse, token, validation, own limit, handler, status. The default limit has counted it before these steps.
 */
import type { EmailDigest } from "@latchkey/database";
import { type Context, Elysia } from "elysia";
import { type RequestEntry, requestContext } from "../elysia/request-context.ts";
import { addRoute, synchronous } from "../elysia/workarounds.ts";
import { ignoreBody, jsonBody } from "../http/body.ts";
import type { Operation } from "../http/operation.ts";
import { queryValidator, validator } from "../http/validator.ts";
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
  readonly principal: Input["principal"];
  readonly set: Context["set"];
}

const NO_INPUT: Input = { body: {}, params: {}, query: {}, principal: undefined };

/**
 * Elysia parses whatever the source of a hook mentions, so each hook names the members that it reads (`elysia/request-context.ts`).
 * A GET request has no `parse`, because the router never parses its body.
 */
export function registerOperations<Caller>(
  operations: readonly Operation<Caller>[],
  options: OperationsOptions<Caller>,
) {
  const router = new Elysia({ name: "operations" }).use(requestContext());
  for (const operation of operations) {
    const { method, path, body, params, requiresToken, refineBody } = operation;
    const beforeHandle = ownLimit(operation, options.limiters);
    addRoute(router, method, path, handlerOf(operation, options), {
      ...(method !== "GET" && { parse: [body ? jsonBody(body) : ignoreBody] }),
      ...(requiresToken && { transform: authentication(options.authenticate, operation) }),
      ...(params && { params: validator(params, "path") }),
      ...(body && { body: validator(body, "body", refineBody) }),
      ...(beforeHandle && { beforeHandle }),
    });
  }
  return router;
}

/** Elysia adds the result of a `transform` hook to the context. */
const authentication =
  <Caller>(authenticate: Authenticate<Caller>, { acceptsIdleToken = false }: Operation<Caller>) =>
  async ({ clientAddress, entry, request }: UnauthenticatedRequest) => ({
    principal: await authenticate({ clientAddress, entry, request }, { acceptsIdleToken }),
  });

function ownLimit<Caller>({ limit }: Operation<Caller>, limiters: RateLimiters | null) {
  if (limiters === null || limit === undefined || limit === "none") return null;
  const limiter = limiters[limit.quota];
  if (limit.per !== "user") return addressLimit(limiter);
  return async ({ body, clientAddress, entry, set }: StepContext): Promise<void> => {
    if (!limit.applies || limit.applies(body))
      await limiter.limitUser({ clientAddress, headers: set.headers }, entry.userId);
  };
}

/** An error replaces the status. */
function handlerOf<Caller>(operation: Operation<Caller>, options: OperationsOptions<Caller>) {
  const { query, normalizeQuery, success, isStatic } = operation;
  const { status } = success;
  const handle: Operation<unknown>["handler"] = operation.handler;
  const contextOf = handle.length > 1 ? createContext : noContext;
  if (isStatic)
    return synchronous(({ clientAddress, entry, request, set }: StepContext) => {
      set.status = status;
      return handle(NO_INPUT, contextOf({ clientAddress, entry, request, set }, options));
    });
  const readQuery = query && queryValidator(query, normalizeQuery);
  return ({ body, clientAddress, entry, params, principal, request, set }: StepContext) => {
    set.status = status;
    const input: Input = { body, params, principal, query: readQuery ? readQuery(request.url) : {} };
    return handle(input, contextOf({ clientAddress, entry, request, set }, options));
  };
}

/** The cast is safe because a handler with one parameter does not read the second one. A context takes 0.1 µs to create. */
const noContext = (): RequestContext => undefined as unknown as RequestContext;

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
      entry.audit = { event, userId, emailDigest, ...details };
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
