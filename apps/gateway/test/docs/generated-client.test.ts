/**
 * Clients generated from the document by three generators with default options. A program per generator uses every operation:
 * it compiles in strict mode and gets the same responses from the service.
 */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import ts from "typescript";
import { fetchDocument, operationsOf } from "../support/openapi/document.ts";
import { shareService, startService } from "../support/service.ts";

const shared = shareService();
const PACKAGE = join(import.meta.dir, "../..");

interface Generator {
  /** The script in `node_modules/.bin` and its arguments. */
  readonly command: readonly string[];
  /** Receives the URL of the service; prints the statuses of its calls and three members of their responses. */
  readonly program: string;
}

const CREDENTIALS = `{ email: "ada@example.com", password: "correct horse battery staple" }`;

const GENERATORS: Readonly<Record<string, Generator>> = {
  "openapi-typescript": {
    command: ["openapi-typescript", "openapi.json", "-o", "openapi-typescript/types.ts"],
    program: `
import createClient from "openapi-fetch";
import type { components, paths } from "./openapi-typescript/types.ts";

const { GET, POST, PATCH, DELETE, use } = createClient<paths>({ baseUrl: process.argv[2] ?? "" });
const credentials = ${CREDENTIALS};
const getLiveness = await GET("/healthz");
const getReadiness = await GET("/readyz");
const getJwks = await GET("/.well-known/jwks.json");
const register = await POST("/auth/register", { body: { ...credentials, username: "ada" } });
const login = await POST("/auth/login", { body: credentials });
let token: string = login.data?.access_token ?? "";
use({ onRequest: ({ request }) => request.headers.set("Authorization", \`Bearer \${token}\`) });
const updateMe = await PATCH("/auth/me", { body: { username: "countess" } });
const getMe = await GET("/auth/me");
const user: components["schemas"]["UserResponse"] | undefined = getMe.data;
const createTodo = await POST("/todos", { body: { title: "Milk" } });
const path = { id: createTodo.data?.id ?? 0 };
const listTodos = await GET("/todos", { params: { query: { limit: 2 } } });
const cursor: string | null | undefined = listTodos.data?.next_cursor;
const updateTodo = await PATCH("/todos/{id}", { params: { path }, body: { completed: true } });
const deleteTodo = await DELETE("/todos/{id}", { params: { path } });
const getTodo = await GET("/todos/{id}", { params: { path } });
const error = getTodo.error;
const code = error && "code" in error && error.code === "TODO_NOT_FOUND" ? error.code : undefined;
const requestPasswordReset = await POST("/auth/password-reset", { body: { email: credentials.email } });
const requestEmailVerification = await POST("/auth/email-verification");
const forged = { token: "x", password: credentials.password };
const confirmPasswordReset = await POST("/auth/password-reset/confirm", { body: forged });
const confirmEmailVerification = await POST("/auth/email-verification/confirm", { body: forged });
const revokeTokens = await DELETE("/auth/tokens");
token = (await POST("/auth/login", { body: credentials })).data?.access_token ?? "";
const deleteMe = await DELETE("/auth/me");

const calls = [getLiveness, getReadiness, getJwks, register, login, updateMe, getMe, createTodo, listTodos, updateTodo, deleteTodo, getTodo, requestPasswordReset, requestEmailVerification, confirmPasswordReset, confirmEmailVerification, revokeTokens, deleteMe];
console.log(JSON.stringify([calls.map(({ response }) => response.status), user?.username, cursor, code]));
`,
  },
  "@hey-api/openapi-ts": {
    command: ["openapi-ts", "-i", "openapi.json", "-o", "hey-api", "--silent"],
    program: `
import * as api from "./hey-api/index.ts";
import { client } from "./hey-api/client.gen.ts";

let token = "";
client.setConfig({ baseUrl: process.argv[2] ?? "", auth: () => token });
const credentials: api.LoginRequest = ${CREDENTIALS};
const getLiveness = await api.getLiveness();
const getReadiness = await api.getReadiness();
const getJwks = await api.getJwks();
const register = await api.register({ body: { ...credentials, username: "ada" } });
const login = await api.login({ body: credentials });
token = login.data?.access_token ?? "";
const updateMe = await api.updateMe({ body: { username: "countess" } });
const getMe = await api.getMe();
const user: api.UserResponse | undefined = getMe.data;
const createTodo = await api.createTodo({ body: { title: "Milk" } });
const path = { id: createTodo.data?.id ?? 0 };
const listTodos = await api.listTodos({ query: { limit: 2 } });
const cursor: string | null | undefined = listTodos.data?.next_cursor;
const updateTodo = await api.updateTodo({ path, body: { completed: true } });
const deleteTodo = await api.deleteTodo({ path });
const getTodo = await api.getTodo({ path });
const code: "TODO_NOT_FOUND" | undefined = getTodo.error?.code === "TODO_NOT_FOUND" ? getTodo.error.code : undefined;
const requestPasswordReset = await api.requestPasswordReset({ body: { email: credentials.email } });
const requestEmailVerification = await api.requestEmailVerification();
const forged = { token: "x", password: credentials.password };
const confirmPasswordReset = await api.confirmPasswordReset({ body: forged });
const confirmEmailVerification = await api.confirmEmailVerification({ body: forged });
const revokeTokens = await api.revokeTokens();
token = (await api.login({ body: credentials })).data?.access_token ?? "";
const deleteMe = await api.deleteMe();

const calls = [getLiveness, getReadiness, getJwks, register, login, updateMe, getMe, createTodo, listTodos, updateTodo, deleteTodo, getTodo, requestPasswordReset, requestEmailVerification, confirmPasswordReset, confirmEmailVerification, revokeTokens, deleteMe];
console.log(JSON.stringify([calls.map(({ response }) => response?.status), user?.username, cursor, code]));
`,
  },
  orval: {
    command: ["orval", "--input", "./openapi.json", "--output", "./orval/client.ts"],
    program: `
import axios, { type AxiosError } from "axios";
import * as api from "./orval/client.ts";

axios.defaults.baseURL = process.argv[2] ?? "";
const credentials: api.LoginRequest = ${CREDENTIALS};
const getLiveness = await api.getLiveness();
const getReadiness = await api.getReadiness();
const getJwks = await api.getJwks();
const register = await api.register({ ...credentials, username: "ada" });
const login = await api.login(credentials);
axios.defaults.headers.common.Authorization = \`Bearer \${login.data.access_token}\`;
const updateMe = await api.updateMe({ username: "countess" });
const getMe = await api.getMe();
const user: api.UserResponse = getMe.data;
const createTodo = await api.createTodo({ title: "Milk" });
const id: number = createTodo.data.id;
const listTodos = await api.listTodos({ limit: 2 });
const cursor: string | null = listTodos.data.next_cursor;
const updateTodo = await api.updateTodo(id, { completed: true });
const deleteTodo = await api.deleteTodo(id);
const getTodo = await api.getTodo(id).catch(({ response }: AxiosError<api.NotFoundError>) => response);
const error = getTodo?.data;
const code: api.NotFoundErrorCode | undefined = error && "code" in error ? error.code : undefined;
const requestPasswordReset = await api.requestPasswordReset({ email: credentials.email });
const requestEmailVerification = await api.requestEmailVerification();
const forged = { token: "x", password: credentials.password };
const responseOf = ({ response }: AxiosError) => response;
const confirmPasswordReset = await api.confirmPasswordReset(forged).catch(responseOf);
const confirmEmailVerification = await api.confirmEmailVerification(forged).catch(responseOf);
const revokeTokens = await api.revokeTokens();
const { access_token } = (await api.login(credentials)).data;
axios.defaults.headers.common.Authorization = \`Bearer \${access_token}\`;
const deleteMe = await api.deleteMe();

const calls = [getLiveness, getReadiness, getJwks, register, login, updateMe, getMe, createTodo, listTodos, updateTodo, deleteTodo, getTodo, requestPasswordReset, requestEmailVerification, confirmPasswordReset, confirmEmailVerification, revokeTokens, deleteMe];
console.log(JSON.stringify([calls.map((response) => response?.status), user.username, cursor, code]));
`,
  },
};

/** A folder from which the packages of this workspace can be imported. */
async function openFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(PACKAGE, "node_modules/.client-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

/** Runs a script with Bun and returns its output. @throws {Error} if it fails */
async function run(folder: string, ...command: string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, ...command], { cwd: folder, stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(errors);
  return output;
}

/** The compiler errors of programs, in strict mode. */
function compile(files: string[]): string[] {
  const program = ts.createProgram(files, {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.Preserve,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: ["bun"],
  });
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const name = basename(file?.fileName ?? "");
    return `${name}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
}

test("clients generated by three generators with default options compile and use every operation", async () => {
  await using folder = await openFolder();
  const document = await fetchDocument(shared());
  await Bun.write(join(folder.path, "openapi.json"), JSON.stringify(document));
  const files: Record<string, string> = {};
  for (const [name, { command, program }] of Object.entries(GENERATORS)) {
    for (const { operationId } of operationsOf(document)) expect(program).toContain(`const ${operationId} =`);
    const [script = "", ...options] = command;
    await run(folder.path, join(PACKAGE, "node_modules/.bin", script), ...options);
    const file = join(folder.path, `${basename(name)}.ts`);
    await Bun.write(file, program);
    await Bun.write(`${file}.wrong.ts`, program.replace('"countess"', "7"));
    files[name] = file;
  }

  const wrong = Object.values(files).map((file) => `${file}.wrong.ts`);
  expect(compile([...Object.values(files), ...wrong]).sort()).toEqual(
    wrong.map((file) => `${basename(file)}: Type 'number' is not assignable to type 'string'.`).sort(),
  );

  for (const [name, file] of Object.entries(files)) {
    await using service = await startService();
    const results: unknown = JSON.parse(await run(folder.path, file, service.url));
    expect([name, results]).toEqual([
      name,
      [
        [200, 200, 200, 201, 200, 200, 200, 201, 200, 200, 204, 404, 202, 202, 400, 400, 204, 204],
        "countess",
        null,
        "TODO_NOT_FOUND",
      ],
    ]);
  }
}, 120_000);
