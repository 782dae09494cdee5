/** Names for the shapes of requests and responses. */
import type { operations } from "./schema.ts";

/** The JSON body of a request or a response. */
export type Json<Message> = Message extends { content: { "application/json": infer Body } } ? Body : never;
type RequestOf<Id extends keyof operations> = operations[Id] extends { requestBody?: infer Message }
  ? Json<Message>
  : never;
/** The bodies of all success and error responses of an operation. */
type ResponseOf<Id extends keyof operations> = {
  [Status in keyof operations[Id]["responses"]]: Json<operations[Id]["responses"][Status]>;
};

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
export type Identity = ResponseOf<"addIdentity">[201];
export type PublicKeySet = ResponseOf<"getJwks">[200];
export type Todo = ResponseOf<"getTodo">[200];
export type TodoPage = ResponseOf<"listTodos">[200];
/** One issue of an invalid request: the location, a message and a stable type. */
export type ValidationIssue = ResponseOf<"register">[422]["detail"][number];

type DocumentedBody = {
  [Id in keyof operations]: ResponseOf<Id>[keyof ResponseOf<Id>];
}[keyof operations];
type CodeOf<Body> = Body extends { code: infer Code } ? Code : never;

/** The codes in the OpenAPI document, and the codes for paths and methods that are not in the document. */
export type ErrorCode = CodeOf<DocumentedBody> | "NOT_FOUND" | "METHOD_NOT_ALLOWED";
