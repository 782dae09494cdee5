/** A client generated from the document with default options compiles in strict mode, and every operation works. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import ts from "typescript";
import { fetchDocument, operationsOf } from "../support/openapi/document.ts";
import { startService } from "../support/service.ts";

const PACKAGE = join(import.meta.dir, "../..");

/** Receives the URL of the service; prints the statuses of its calls and three members of their responses. */
const PROGRAM = `
import * as api from "./hey-api/index.ts";
import { client } from "./hey-api/client.gen.ts";

let token = "";
client.setConfig({ baseUrl: process.argv[2] ?? "", auth: () => token });
const credentials: api.LoginRequest = { email: "ada@example.com", password: "correct horse battery staple" };
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
`;

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

test("a client of another generator compiles and uses every operation", async () => {
  await using service = await startService();
  await using folder = await openFolder();
  const document = await fetchDocument(service);
  await Bun.write(join(folder.path, "openapi.json"), JSON.stringify(document));
  for (const { operationId } of operationsOf(document)) expect(PROGRAM).toContain(`const ${operationId} =`);
  const generator = join(PACKAGE, "node_modules/.bin/openapi-ts");
  await run(folder.path, generator, "-i", "openapi.json", "-o", "hey-api", "--silent");
  const [file, wrong] = ["program.ts", "wrong.ts"].map((name) => join(folder.path, name)) as [string, string];
  await Bun.write(file, PROGRAM);
  await Bun.write(wrong, PROGRAM.replace('"countess"', "7"));
  expect(compile([file, wrong])).toEqual(["wrong.ts: Type 'number' is not assignable to type 'string'."]);
  expect(JSON.parse(await run(folder.path, file, service.url))).toEqual([
    [200, 200, 200, 201, 200, 200, 200, 201, 200, 200, 204, 404, 202, 202, 400, 400, 204, 204],
    "countess",
    null,
    "TODO_NOT_FOUND",
  ]);
}, 60_000);
