/** A client generated from the document with default options compiles in strict mode, and every operation works. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import ts from "typescript";
import { fetchDocument, type NamedOperation, operationsOf } from "../support/openapi/document.ts";
import { prepareSuccess } from "../support/openapi/requests.ts";
import { EVERY_FEATURE, type Service, startService } from "../support/service.ts";

const PACKAGE = join(import.meta.dir, "../..");

/** Follows the calls of all operations: their statuses are printed, and three members of responses have their types. */
const USES = `
const credentials: api.LoginRequest = { email: "ada@example.com", password: "correct horse battery staple" };
const user: api.UserResponse | undefined = (await api.register({ body: { ...credentials, username: "ada" } })).data;
const cursor: string | null | undefined = (await api.listTodos({ query: { limit: 100 } })).data?.next_cursor;
const { error } = await api.getTodo({ path: { id: 404 } });
const code: "TODO_NOT_FOUND" | undefined = error?.code === "TODO_NOT_FOUND" ? error.code : undefined;
console.log(JSON.stringify([calls.map(({ response }) => response?.status), user?.username, cursor, code]));
`;

/** A call with everything that the operation needs to succeed. */
async function callOf(service: Service, operation: NamedOperation): Promise<string> {
  const { id, token, body } = await prepareSuccess(service, operation);
  const path = operation.path.includes("{id}") ? { id } : undefined;
  return `await api.${operation.operationId}(${JSON.stringify({ auth: token, path, body })})`;
}

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
  await using service = await startService({ env: EVERY_FEATURE });
  await using folder = await openFolder();
  const document = await fetchDocument(service);
  await Bun.write(join(folder.path, "openapi.json"), JSON.stringify(document));
  const operations = operationsOf(document);
  const calls: string[] = [];
  for (const operation of operations) calls.push(await callOf(service, operation));
  const program = `
import * as api from "./hey-api/index.ts";
import { client } from "./hey-api/client.gen.ts";
client.setConfig({ baseUrl: ${JSON.stringify(service.url)} });
const calls = [${calls.join()}];
${USES}`;
  const generator = join(PACKAGE, "node_modules/.bin/openapi-ts");
  await run(folder.path, generator, "-i", "openapi.json", "-o", "hey-api", "--silent");
  const [file, wrong] = ["program.ts", "wrong.ts"].map((name) => join(folder.path, name)) as [string, string];
  await Bun.write(file, program);
  await Bun.write(wrong, program.replace('username: "ada"', "username: 7"));
  expect(compile([file, wrong])).toEqual(["wrong.ts: Type 'number' is not assignable to type 'string'."]);
  expect(JSON.parse(await run(folder.path, file))).toEqual([
    operations.map(({ responses }) => Number(Object.keys(responses)[0])),
    "ada",
    null,
    "TODO_NOT_FOUND",
  ]);
}, 60_000);
