/** Makes an OpenAPI document of a list of operations, with everything that the operations have in common. */
import { type AnyElysia, Elysia } from "elysia";
import { addRoute } from "../elysia/workarounds.ts";
import { enabledOperations } from "../http/operation.ts";
import { VERSION } from "../version.ts";
import { type DescribedOperation, type DescriptionOptions, describeOperation } from "./operation.ts";
import { componentSchemas, type ErrorSchema, type JsonObject } from "./schemas.ts";

interface DocumentOptions extends DescriptionOptions {
  /** Those of features that are off are not described. */
  readonly operations: readonly DescribedOperation[];
  readonly title: string;
  readonly description: string;
  /** Descriptions by tag. A tag without operations is omitted. */
  readonly tags: Readonly<Record<string, string>>;
  /** Sections of text by title. */
  readonly topics: Readonly<Record<string, string>>;
  readonly bearer: JsonObject;
  /** @default the URL of the document without `/openapi.json` */
  readonly server?: { readonly url: string; readonly description: string };
}

const SPEC_PATH = "/openapi.json";
/** Relative, because a proxy can remove a prefix that the service does not know. */
const SERVER_URL = ".";
const SERVER =
  "The URL of this document without `/openapi.json`. Enter it as the base URL of generated clients, and as `baseUrl` in Postman.";

const text = (example: string) => ({ schema: { type: "string" }, example });
const count = (example: number) => ({ schema: { type: "integer", minimum: 0 }, example });

export const HEADERS = {
  "X-Request-ID": {
    description:
      "Identifies the request in the service's log: the value that the client sent if it is valid, otherwise a UUIDv7.",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$" },
    example: "0199d3f2-8a4e-7c31-9a55-3f0f0a7be5d2",
  },
  "WWW-Authenticate": {
    description: "The required authentication scheme (RFC 9110 §11.6.1).",
    required: true,
    ...text("Bearer"),
  },
  "Retry-After": { description: "Seconds to wait before a retry (RFC 9110 §10.2.3).", ...count(42) },
  "RateLimit-Limit": {
    description:
      "Requests per window of the operation's own limit if it counted the request, otherwise of the default limit. Absent from probes, and if rate limits are disabled.",
    ...count(6000),
  },
  "RateLimit-Remaining": { description: "Remaining requests in this window.", ...count(5999) },
  "RateLimit-Reset": { description: "Seconds until this window ends.", ...count(42) },
};

/** Returns the document as JSON. */
export async function createDocument(options: DocumentOptions): Promise<string> {
  const { title, description, tags, topics, bearer, server } = options;
  const enabled = enabledOperations(options.operations, options.features);
  const operations = [...Map.groupBy(enabled, ({ path }) => path).values()].flat();
  const used = new Set(operations.map(({ tag }) => tag));
  const documentation = {
    info: { title, version: VERSION, description, license: LICENSE },
    servers: [server ?? { url: SERVER_URL, description: SERVER }],
    tags: [
      ...Object.entries(tags)
        .filter(([name]) => used.has(name))
        .map(([name, description]) => ({ name, description })),
      // The reference shows tags without operations as sections of text.
      ...Object.entries(topics).map(([name, description]) => ({ name, description, "x-traitTag": true })),
    ],
  };
  const router = new Elysia();
  const errorSchemas: Record<string, ErrorSchema> = {};
  for (const operation of operations) {
    const described = describeOperation(operation, options);
    Object.assign(errorSchemas, described.errorSchemas);
    addRoute(router, operation.method, operation.path, () => null, { detail: described.detail });
  }
  const components = {
    schemas: componentSchemas(operations, errorSchemas),
    headers: HEADERS,
    securitySchemes: { bearer },
  };
  const { openapi, paths } = await collect(router);
  return JSON.stringify({ openapi, ...documentation, paths, components });
}

const LICENSE = { name: "MIT", url: "https://opensource.org/license/mit" };

/**
 * The design requires `@elysiajs/swagger`: it collects the descriptions of the routes and translates their paths. It is imported
 * here, because the start of the service does not need it.
 */
async function collect(router: AnyElysia): Promise<JsonObject> {
  const { swagger } = await import("@elysiajs/swagger");
  // By default, the plugin omits paths with a dot.
  router.use(swagger({ specPath: SPEC_PATH, excludeStaticFile: false }));
  const response = await router.handle(new Request(`http://localhost${SPEC_PATH}`));
  return (await response.json()) as JsonObject;
}
