/**
 * An operation is one object: what it requires, what it returns, its texts in the OpenAPI document, and its handler. The types
 * of the handler follow from the schemas.
 */
import type { ValidationIssue } from "@latchkey/contracts";
import type Type from "typebox";
import type { RestrictedScope } from "../config.ts";
import type { ErrorCode } from "../errors.ts";
import type { Feature, Features } from "../feature-flags.ts";
import type { QuotaName } from "../rate-limit/limits.ts";
import type { RequestContext } from "../request-context.ts";
import type { Principal } from "../tokens/access-tokens.ts";

type Members = Type.TObject;
/** `never` stands for a schema that the operation does not have. */
type ValueOf<Schema extends Type.TSchema> = [Schema] extends [never] ? undefined : Type.Static<Schema>;

type Result<Success extends Type.TSchema, Unavailable extends Type.TSchema> =
  | Type.Static<Success>
  | Type.Static<Unavailable>;

/** The validated parts of a request, and who sent the request. */
export interface OperationInput<Body, Params, Query, Caller> {
  readonly body: Body;
  readonly params: Params;
  readonly query: Query;
  /** undefined if the operation requires no token. */
  readonly principal: Caller;
}

interface Reply {
  readonly status: number;
  readonly description: string;
  /** A contract with a name. Without a schema, the response has no body. */
  readonly schema?: Type.TSchema;
}

/** The operation's own limit. It counts the valid requests only. */
export interface OperationLimit<Body> {
  readonly quota: QuotaName;
  /**
   * `user` counts per user and per client address. `rejection`: the handler counts what it rejects, per client address.
   * @default per client address
   */
  readonly per?: "user" | "rejection";
  /** Whether a request counts. Only with `per: "user"`. @default every request counts */
  applies?(body: Body): boolean;
  /** Replaces the description of the quota. `{quota}` is the default of its variable. */
  readonly description?: string;
}

export interface Operation<
  Caller,
  Body extends Members = Members,
  Params extends Members = Members,
  Query extends Members = Members,
  Success extends Type.TSchema = Type.TSchema,
  Unavailable extends Type.TSchema = Type.TSchema,
  RequiresToken extends boolean = boolean,
> {
  /** `operationId`. Generated clients name their methods after it. */
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** A parameter is written as `:name`. */
  readonly path: `/${string}`;
  readonly tag: string;
  /** The operation exists only if this feature is on. @default it always exists */
  readonly feature?: Feature;
  /** How the operation logs in, as the metrics name it. The document adds the errors of every login. @default it is no login */
  readonly loginMethod?: string;
  /** Whether the login proves two factors: nobody is asked for a second one. @default false */
  readonly isTwoFactor?: boolean;
  /** The login that the operation begins. The metric of logins counts it if it is unavailable. @default none */
  readonly beginsLogin?: string;
  readonly summary: string;
  readonly description: string;
  /** The operation requires a token, so it also returns every authentication error. @default false */
  readonly requiresToken?: RequiresToken;
  /** The restricted keys of the administration that allow it. @default none */
  readonly openTo?: readonly RestrictedScope[];
  /** A token that expired recently is also accepted, if the configuration allows it. @default false */
  readonly acceptsIdleToken?: boolean;
  readonly params?: Params;
  /** All parameters are optional. A repeated parameter is an array. */
  readonly query?: Query;
  /** Runs before the query is checked. */
  normalizeQuery?(members: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** Whether a query parameter that `query` does not declare is an issue. @default it is ignored */
  readonly rejectsUnknownParameters?: boolean;
  readonly body?: Body;
  /**
   * The body is form-encoded, for clients of OAuth. `check` runs before `body`, which accepts texts only. @default it is JSON
   */
  readonly form?: { check(members: Readonly<Record<string, string>>): void };
  /** The body of callers to whom a rule of `body` does not apply. Only with `requiresToken`. */
  readonly exception?: { readonly body: Body; applies(caller: Caller): boolean };
  /** Finds further issues in a body that the schema accepts. */
  refineBody?(body: ValueOf<Body>): readonly ValidationIssue[];
  /** The issues in the example of a 422. Required if the operation can return one. */
  readonly issues?: readonly ValidationIssue[];
  /** `none`: the default limit does not count the request either (GET and HEAD only). @default the default limit only */
  readonly limit?: OperationLimit<ValueOf<Body>> | "none";
  readonly success: Reply & { readonly schema?: Success };
  /** A success with another status and the same schema, which the handler sets. */
  readonly otherSuccess?: Reply & { readonly schema?: Success };
  /** A response that is neither a success nor an error of the table. */
  readonly unavailable?: Reply & { readonly schema?: Unavailable };
  /** The operation's own errors. The document adds those of the steps before the handler, and of the database. */
  readonly errors?: readonly ErrorCode[];
  /** The operation uses no resource: it returns no 500 or 503, and its handler returns no promise. */
  readonly isStatic?: boolean;
  /** Gets `request` only if it declares the parameter, because making it takes time (`middleware/operations.ts`). */
  handler(
    input: OperationInput<
      ValueOf<Body>,
      ValueOf<Params>,
      ValueOf<Query>,
      RequiresToken extends true ? Caller : undefined
    >,
    request: RequestContext,
  ): Result<Success, Unavailable> | Promise<Result<Success, Unavailable>>;
}

/** What the operations of a list have in common. */
type Shared = Partial<Pick<Operation<unknown>, "tag" | "feature">>;

/**
 * Returns a function that types an operation by its own schemas, and adds what all of its list have in common. `Caller` is what the
 * authentication of the list returns. The cast is safe because each handler gets only values that the schemas of the same operation
 * have validated.
 */
export const operationFor =
  <Caller>(shared: Shared = {}) =>
  <
    Body extends Members = never,
    Params extends Members = never,
    Query extends Members = never,
    Success extends Type.TSchema = Type.TVoid,
    Unavailable extends Type.TSchema = Type.TNever,
    RequiresToken extends boolean = false,
  >(
    operation: Omit<
      Operation<Caller, Body, Params, Query, Success, Unavailable, RequiresToken>,
      keyof Shared
    > &
      Shared,
  ) =>
    ({ ...shared, ...operation }) as unknown as Operation<Caller>;

/** The same for operations of users, who authenticate by access token. */
export const userOperation = operationFor<Principal>;

export const enabledOperations = <One extends { readonly feature?: Feature }>(
  operations: readonly One[],
  features: Features,
): One[] => operations.filter(({ feature }) => feature === undefined || features.has(feature));
