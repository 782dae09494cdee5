/** Describes an operation for the OpenAPI document; its failures come from the error table, so the two cannot differ. */
import type { ErrorCode } from "@latchkey/contracts";
import type { DocumentDecoration } from "elysia";
import type Type from "typebox";
import { ERROR_TABLE, type ErrorProperties, errorResponseFor, INTERNAL_ERROR_DETAIL } from "../errors.ts";

/** Names of `components.schemas`. */
export type SchemaName =
  | "User"
  | "Token"
  | "Todo"
  | "TodoPage"
  | "Live"
  | "Ready"
  | "Unready"
  | "ErrorBody"
  | "ValidationErrorBody";

/** Names of `components.headers`. */
export type HeaderName =
  | (typeof COMMON_HEADERS | typeof LIMIT_HEADERS)[number]
  | "Retry-After"
  | "WWW-Authenticate";

export type Tag = "Auth" | "Todos" | "Probes";

export interface OperationOptions {
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** The query parameters, all optional. */
  readonly query?: Type.TObject;
  readonly success: { readonly status: number; readonly description: string; readonly schema?: SchemaName };
  /** Codes of the error table, beside those of the layers; an operation of `Probes` has no rate limit and no 500. */
  readonly failures: readonly ErrorCode[];
  /** The operation's own rate limit, one sentence for the description of its 429. */
  readonly rateLimit?: string;
  /** Needs a bearer token, and so also answers with every failure of the gate. */
  readonly isProtected?: boolean;
}

type Responses = NonNullable<DocumentDecoration["responses"]>;
type ResponseObject = Exclude<Responses[string], { $ref: string }>;

const AUTHENTICATION_ERRORS: readonly ErrorCode[] = ["INVALID_TOKEN", "INACTIVE_USER", "USER_NOT_FOUND"];
const COMMON_HEADERS = ["X-Request-ID"] as const;
const LIMIT_HEADERS = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const;

/** What the examples of the document are made from. */
const EXAMPLE: ErrorProperties = {
  issues: [
    { loc: ["body", "password"], msg: "must not have fewer than 8 characters", type: "string_too_short" },
  ],
  quota: "5 per 1 minute",
  retryAfterSeconds: 42,
};

export function operation(options: OperationOptions): DocumentDecoration {
  const { id, tag, summary, description, query, success, isProtected = false } = options;
  const isLimited = tag !== "Probes";
  const codes = new Set<ErrorCode>([
    ...(isProtected ? AUTHENTICATION_ERRORS : []),
    ...options.failures,
    // Judged by the announced length, whatever the route does with a body.
    "PAYLOAD_TOO_LARGE",
    ...(isLimited ? (["TOO_MANY_REQUESTS"] as const) : []),
  ]);
  const headers = isLimited ? [...COMMON_HEADERS, ...LIMIT_HEADERS] : COMMON_HEADERS;
  const responses: Responses = {
    [success.status]: response(success.description, headers, success.schema),
  };
  for (const status of new Set([...codes].map((code) => ERROR_TABLE[code].status))) {
    const sharing = [...codes].filter((code) => ERROR_TABLE[code].status === status);
    responses[status] = failure(sharing, headers, status === 429 ? options.rateLimit : undefined);
  }
  if (isLimited) {
    responses["500"] = response("An unexpected failure.", headers, "ErrorBody", {
      INTERNAL_SERVER_ERROR: { value: { detail: INTERNAL_ERROR_DETAIL } },
    });
  }
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(query && {
      parameters: Object.entries(query.properties).map(([name, schema]) => ({ in: "query", name, schema })),
    }),
    ...(isProtected ? { security: [{ bearer: [] }] } : { security: [] }),
    responses,
  };
}

export function response(
  description: string,
  headers: readonly string[],
  schema?: SchemaName,
  examples?: Record<string, { value: unknown }>,
): ResponseObject {
  return {
    description,
    headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...(schema && {
      content: {
        "application/json": {
          schema: { $ref: `#/components/schemas/${schema}` },
          ...(examples && { examples }),
        },
      },
    }),
  };
}

/** All codes share one status; each is an example, named by its code. */
function failure(
  codes: readonly ErrorCode[],
  headers: readonly string[],
  addition: string | undefined,
): ResponseObject {
  const answers = codes.map((code) => errorResponseFor(code, EXAMPLE));
  return response(
    [...codes.map((code) => ERROR_TABLE[code].description), ...(addition ? [addition] : [])].join(" "),
    [...new Set([...headers, ...answers.flatMap((answer) => Object.keys(answer.headers))])],
    codes.includes("INVALID_REQUEST") ? "ValidationErrorBody" : "ErrorBody",
    Object.fromEntries(codes.map((code, index) => [code, { value: { detail: answers[index]?.detail } }])),
  );
}
