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
import { type RateLimiters, rateLimitRoutes } from "./rate-limit.ts";

/** The parts of a request that can show who sent it. */
interface UnauthenticatedRequest {
  readonly request: Request;
  readonly clientAddress: string;
  readonly entry: RequestEntry;
}

/** Returns who sent the request. @throws the error that the client receives */
export type Authenticate<Caller> = (request: UnauthenticatedRequest) => Promise<Caller>;

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
    const { method, path, body, params } = operation;
    const { plugin, beforeHandle } = ownLimit(operation, options.limiters);
    const routes = plugin ? plugin(new Elysia().use(requestContext())) : router;
    addRoute(routes, method, path, handlerOf(operation, options), {
      ...(method !== "GET" && { parse: [body ? jsonBody(body) : ignoreBody] }),
      ...(operation.requiresToken && { transform: authentication(options.authenticate) }),
      ...(params && { params: validator(params, "path") }),
      ...(body && { body: validator(body, "body", operation.refineBody) }),
      ...(beforeHandle && { beforeHandle }),
    });
    if (plugin) router.use(routes);
  }
  return router;
}

/** Elysia adds the result of a `transform` hook to the context. */
const authentication =
  <Caller>(authenticate: Authenticate<Caller>) =>
  async ({ clientAddress, entry, request }: UnauthenticatedRequest) => ({
    principal: await authenticate({ clientAddress, entry, request }),
  });

/** The plugin counts per client address. A limit per user also depends on the principal, which the plugin does not see. */
function ownLimit<Caller>({ limit }: Operation<Caller>, limiters: RateLimiters | null) {
  if (limiters === null || limit === undefined || limit === "none") return {};
  const limiter = limiters[limit.quota];
  if (limit.per !== "user") return { plugin: rateLimitRoutes(limiter) };
  const beforeHandle = async ({ body, clientAddress, entry, set }: StepContext): Promise<void> => {
    if (!limit.applies || limit.applies(body))
      await limiter.limitUser({ clientAddress, headers: set.headers }, entry.userId);
  };
  return { beforeHandle };
}

/** An error replaces the status. */
function handlerOf<Caller>(operation: Operation<Caller>, options: OperationsOptions<Caller>) {
  const { query, normalizeQuery, success, isStatic } = operation;
  const { status } = success;
  const handle: Operation<unknown>["handler"] = operation.handler;
  if (isStatic)
    return synchronous(({ clientAddress, entry, request, set }: StepContext) => {
      set.status = status;
      return handle(NO_INPUT, createContext({ clientAddress, entry, request, set }, options));
    });
  const readQuery = query && queryValidator(query, normalizeQuery);
  return ({ body, clientAddress, entry, params, principal, request, set }: StepContext) => {
    set.status = status;
    const input: Input = { body, params, principal, query: readQuery ? readQuery(request.url) : {} };
    return handle(input, createContext({ clientAddress, entry, request, set }, options));
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
