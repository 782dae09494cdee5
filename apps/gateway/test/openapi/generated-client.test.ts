/** A client generated from the document with default options compiles in strict mode, and every operation works. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { ROOT } from "@latchkey/testing/repository";
import { runProcess } from "@latchkey/testing/run-process";
import { fetchDocument, type NamedOperation, operationsOf } from "../support/openapi/document.ts";
import { prepareSuccess, variablesWith } from "../support/openapi/requests.ts";
import { type HostileProvider, startHostileProvider } from "../support/openid/hostile-provider.ts";
import { type Service, startService } from "../support/service.ts";

const GENERATOR = join(ROOT, "apps/gateway/node_modules/.bin/openapi-ts");
const COMPILER = [
  ...[join(ROOT, "node_modules/.bin/tsc"), "--strict", "--noEmit", "--skipLibCheck"],
  ...["--allowImportingTsExtensions", "--target", "esnext", "--module", "preserve"],
];

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
async function callOf(
  service: Service,
  operation: NamedOperation,
  provider: HostileProvider,
): Promise<string> {
  const { id, token, body } = await prepareSuccess(service, operation, provider);
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const values = names.map((name) => [name, name === "id" ? id : "example"]);
  const path = names.length > 0 ? Object.fromEntries(values) : undefined;
  return `await api.${operation.operationId}(${JSON.stringify({ auth: token, path, body })})`;
}

inFullRun(test)("a client of another generator compiles and uses every operation", async () => {
  await using provider = await startHostileProvider();
  await using service = await startService({ env: variablesWith(provider) });
  await using folder = await openFolder();
  const document = await fetchDocument(service);
  await Bun.write(join(folder.path, "openapi.json"), JSON.stringify(document));
  const operations = operationsOf(document);
  const calls: string[] = [];
  for (const operation of operations) calls.push(await callOf(service, operation, provider));
  const program = `
import * as api from "./hey-api/index.ts";
import { client } from "./hey-api/client.gen.ts";
client.setConfig({ baseUrl: ${JSON.stringify(service.url)} });
const calls = [${calls.join()}];
${USES}`;
  await Bun.write(join(folder.path, "program.ts"), program);
  await Bun.write(join(folder.path, "wrong.ts"), program.replace('username: "ada"', "username: 7"));
  /** Returns what the script prints. */
  const run = async (...script: string[]) => {
    const { stdout, stderr } = await runProcess([process.execPath, ...script], { cwd: folder.path });
    return stdout + stderr;
  };
  await run(GENERATOR, "-i", "openapi.json", "-o", "hey-api", "--silent");
  expect(await run(...COMPILER, "program.ts", "wrong.ts")).toMatch(
    /^wrong\.ts\(\S+ error TS2322: Type 'number' is not assignable to type 'string'\.\n$/,
  );
  expect(JSON.parse(await run("program.ts"))).toEqual([
    operations.map(({ responses }) => Number(Object.keys(responses)[0])),
    "ada",
    null,
    "TODO_NOT_FOUND",
  ]);
});
