/** What the types of requests and responses are made of, and those of errors. */
import type { operations } from "./schema.ts";

/** The JSON body of a request or a response. */
export type Json<Message> = Message extends { content: { "application/json": infer Body } } ? Body : never;
export type RequestOf<Id extends keyof operations> = operations[Id] extends { requestBody?: infer Message }
  ? Json<Message>
  : never;
/** The bodies of all success and error responses of an operation. */
export type ResponseOf<Id extends keyof operations> = {
  [Status in keyof operations[Id]["responses"]]: Json<operations[Id]["responses"][Status]>;
};

/** One issue of an invalid request: the location, a message and a stable type. */
export type ValidationIssue = ResponseOf<"register">[422]["detail"][number];

type DocumentedBody = {
  [Id in keyof operations]: ResponseOf<Id>[keyof ResponseOf<Id>];
}[keyof operations];
type CodeOf<Body> = Body extends { detail: unknown; code: infer Code } ? Code : never;

/** The codes in the OpenAPI document, and the codes for paths and methods that are not in the document. */
export type ErrorCode = CodeOf<DocumentedBody> | "NOT_FOUND" | "METHOD_NOT_ALLOWED";
