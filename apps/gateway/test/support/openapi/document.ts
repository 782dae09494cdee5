/** The OpenAPI document as its tests read it: the members that they use, and all operations in one list. */
import { mapMembers } from "../../../src/map-members.ts";

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

interface MediaType {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export type Schema = Readonly<Record<string, unknown>>;

interface OperationObject {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, { readonly required?: boolean; readonly schema: Schema }>>;
    readonly securitySchemes: Readonly<Record<string, Schema>>;
  };
}

/** The document as a client receives it. */
export async function fetchDocument(service: {
  request(path: string): Promise<Response>;
}): Promise<OpenApiDocument> {
  const response = await service.request("/openapi.json");
  return (await response.json()) as OpenApiDocument;
}

export interface NamedOperation extends OperationObject {
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  /** The schema of the body. */
  readonly body: BodySchema | undefined;
}

interface BodySchema {
  readonly properties: Readonly<Record<string, { readonly example?: unknown }>>;
  readonly example?: Readonly<Record<string, unknown>>;
}

/** The cast is safe because every body is an object with a named schema. */
function bodyOf({ requestBody }: OperationObject, { components }: OpenApiDocument): BodySchema | undefined {
  const { $ref } = requestBody?.content["application/json"]?.schema ?? {};
  return components.schemas[String($ref).replace("#/components/schemas/", "")] as BodySchema | undefined;
}

/** The examples of the members of a body. */
export const examplesOf = (document: OpenApiDocument, operationId: string): Record<string, unknown> => {
  const operation = operationsOf(document).find((one) => one.operationId === operationId);
  return mapMembers(operation?.body?.properties ?? {}, ({ example }) => example);
};

export const operationsOf = (document: OpenApiDocument): NamedOperation[] =>
  Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      body: bodyOf(operation, document),
    })),
  );
