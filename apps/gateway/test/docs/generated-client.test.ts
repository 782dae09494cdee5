/** A client program whose types are generated from the document, compiled and run. */
import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import ts from "typescript";
import { fetchDocument } from "../support/openapi-document.ts";
import { startService } from "../support/service.ts";

const PROGRAM = `
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./latchkey.ts";

const { GET, POST, PATCH, DELETE, use } = createClient<paths>({ baseUrl: process.argv[2] ?? "" });

const credentials = { email: "ada@example.com", password: "correct horse battery staple" };
const registered = await POST("/auth/register", { body: { ...credentials, username: "ada" } });
const taken = await POST("/auth/register", { body: { ...credentials, username: "ada" } });
const refused = await GET("/auth/me");

const login = await POST("/auth/login", { body: credentials });
if (!login.data) throw new Error(login.error.detail.toString());
const token: string = login.data.access_token;
const authorize: Middleware = {
  onRequest({ request }) {
    request.headers.set("Authorization", \`Bearer \${token}\`);
  },
};
use(authorize);

const renamed = await PATCH("/auth/me", { body: { username: "countess" } });
const me = await GET("/auth/me");
const user: components["schemas"]["User"] | undefined = me.data;

for (const title of ["Milk", "Bread", "Tea"]) await POST("/todos", { body: { title } });
const first = await GET("/todos", { params: { query: { limit: 2 } } });
const cursor: string | null | undefined = first.data?.next_cursor;
const second = await GET("/todos", { params: { query: { limit: 2, ...(cursor && { cursor }) } } });
const done = await PATCH("/todos/{id}", { params: { path: { id: 1 } }, body: { completed: true } });
const gone = await DELETE("/todos/{id}", { params: { path: { id: 1 } } });
const invalid = await POST("/todos", { body: { title: "" } });
const issues: components["schemas"]["ValidationIssue"][] = Array.isArray(invalid.error?.detail) ? invalid.error.detail : [];
const deleted = await DELETE("/auth/me");

console.log(JSON.stringify({
  statuses: [registered, taken, refused, login, renamed, me, first, second, done, gone, invalid, deleted].map(
    ({ response }) => response.status,
  ),
  username: user?.username,
  titles: [first, second].map(({ data }) => data?.items.map(({ title }) => title)),
  last: second.data?.next_cursor,
  refused: refused.error?.detail,
  issue: issues[0]?.loc,
}));
`;

/** A folder from which the packages of this workspace can be imported. */
async function openFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(import.meta.dir, "../../node_modules/.client-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
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

describe("a client generated from the document", () => {
  test("compiles, registers, logs in, and reads and changes its user and todos", async () => {
    await using service = await startService();
    await using folder = await openFolder();
    const document = await fetchDocument(service);
    const file = join(folder.path, "program.ts");
    // A member with a default can be omitted from a body; otherwise the generator would require it.
    const types = await openapiTS(document as unknown as OpenAPI3, { defaultNonNullable: false });
    await Bun.write(join(folder.path, "latchkey.ts"), astToString(types));

    await Bun.write(file, PROGRAM);
    const wrong = join(folder.path, "wrong.ts");
    await Bun.write(wrong, PROGRAM.replace('"countess"', "7"));

    expect(compile([file, wrong])).toEqual(["wrong.ts: Type 'number' is not assignable to type 'string'."]);

    const run = Bun.spawn([process.execPath, file, service.url], { stdout: "pipe", stderr: "pipe" });
    const [output, errors] = await Promise.all([
      new Response(run.stdout).text(),
      new Response(run.stderr).text(),
    ]);
    expect(errors).toBe("");
    expect(JSON.parse(output)).toEqual({
      statuses: [201, 409, 401, 200, 200, 200, 200, 200, 200, 204, 422, 204],
      username: "countess",
      titles: [["Milk", "Bread"], ["Tea"]],
      last: null,
      refused: "Invalid or expired token",
      issue: ["body", "title"],
    });
  }, 60_000);
});
