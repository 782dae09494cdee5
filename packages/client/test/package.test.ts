/** The packed package in an empty project: on Node, on Bun, in a browser and for the TypeScript compiler. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { browserTest, DESKTOP, openBrowser } from "@latchkey/testing/chromium";
import { inFullRun } from "@latchkey/testing/full-run";
import { ROOT } from "@latchkey/testing/repository";
import ts from "typescript";
import { type InstalledPackage, installPackage, run } from "./support/installed-package.ts";
import { type RunningService, startService } from "./support/service.ts";

const SOURCES = join(import.meta.dir, "../src");
const FIXTURE = join(import.meta.dir, "fixtures/every-method.mjs");
const MAIN = `import * as client from "@latchkey/client";
import { callEveryMethod } from "./every-method.mjs";
console.log(JSON.stringify(await callEveryMethod(client, ...process.argv.slice(2))));
`;
const EXPECTED = {
  taken: [true, 409, "A user with this e-mail or username already exists", "string"],
  usernames: ["countess", "countess"],
  keys: [],
  rest: ["Tea", "Salt", "Rice"],
  pages: [3, 2],
  todo: [true, "Milk", 404],
  aborted: "enough",
  redirected: [true, "Redirects are not followed; check baseUrl"],
  loggedOut: true,
};

inFullRun(describe)("the packed package", () => {
  let installed: InstalledPackage;
  beforeAll(async () => {
    installed = await installPackage();
    await copyFile(FIXTURE, join(installed.project, "every-method.mjs"));
    await Bun.write(join(installed.project, "main.mjs"), MAIN);
  });
  afterAll(() => installed[Symbol.asyncDispose]());

  /** A service with a rate limit that the fixture exceeds. */
  const startLimited = (env: Readonly<Record<string, string>> = {}): Promise<RunningService> =>
    startService({ RATE_LIMIT_ENABLED: "true", RATE_LIMIT_DEFAULT: "5/second", ...env });

  test("the package consists of the built files and has no dependencies", async () => {
    const sources = await Array.fromAsync(new Bun.Glob("*.ts").scan(SOURCES));
    const modules = sources.map((name) => basename(name, ".ts"));
    const built = [...modules.map((name) => `${name}.d.ts`), "admin.js", "index.js"];
    const expected = [
      "README.md",
      "package.json",
      "admin/package.json",
      "dist/LICENSE",
      "dist/cjs/package.json",
    ];
    expected.push(...built.map((name) => `dist/${name}`), ...built.map((name) => `dist/cjs/${name}`));
    expect(installed.files).toEqual(expected.sort());
    expect(await run(["ls", "node_modules"], installed.project)).toBe("@latchkey\n");
    const versionOf = async (path: string) => (await Bun.file(join(path, "package.json")).json()).version;
    expect(await versionOf(join(installed.project, "node_modules/@latchkey/client"))).toBe(
      await versionOf(ROOT),
    );
  });

  test("the client, minified, has at most 9 kB with gzip", async () => {
    const entrypoints = [join(installed.project, "node_modules/@latchkey/client/dist/index.js")];
    const { outputs } = await Bun.build({ entrypoints, minify: true, target: "browser" });
    const [built = expect.unreachable()] = await Promise.all(outputs.map((output) => output.arrayBuffer()));
    expect(Bun.gzipSync(built).length).toBeLessThan(9_000);
  });

  // At the same time, because they mostly wait for the rate limit.
  describe.concurrent("every method works", () => {
    test("on Node", async () => {
      await using service = await startLimited();
      await using redirecting = redirectTo(service.url);
      const output = await run(["node", "main.mjs", service.url, redirecting.url.origin], installed.project);
      expect(JSON.parse(output)).toEqual(EXPECTED);
    });

    browserTest("in a browser, from another origin", async () => {
      await using server = servePage(installed.project);
      const { origin } = server.url;
      await using service = await startLimited({ CORS_ORIGINS: origin });
      await using redirecting = redirectTo(service.url);
      await using browser = await openBrowser();
      const visit = await browser.visit(origin, DESKTOP);
      const result = await visit.page.evaluate(`(async () => {
      const [client, { callEveryMethod }] = await Promise.all([import("/index.js"), import("/every-method.mjs")]);
      return callEveryMethod(client, ${JSON.stringify(service.url)}, ${JSON.stringify(redirecting.url.origin)});
    })()`);
      expect(result).toEqual(EXPECTED);
    });
  });

  test("the recipe of the README runs as it is written", async () => {
    await using service = await startLimited();
    const readme = await Bun.file(join(installed.project, "node_modules/@latchkey/client/README.md")).text();
    const recipe = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? "";
    expect(recipe).toContain("http://127.0.0.1:3000");
    await Bun.write(
      join(installed.project, "recipe.mjs"),
      recipe.replace("http://127.0.0.1:3000", service.url),
    );
    expect(await run(["node", "recipe.mjs"], installed.project)).toContain("username: 'alan'");
  });

  test("the declarations type a strict program", async () => {
    const write = async (name: string, text: string): Promise<string> => {
      const path = join(installed.project, name);
      await Bun.write(path, text);
      return path;
    };
    const files = await Promise.all([
      write("program.ts", PROGRAM),
      write("code.ts", PROGRAM.replace("NOT_FOUND", "NOT_FOUNT")),
      write("title.ts", PROGRAM.replace("title: user.username", "title: user.id")),
    ]);
    expect(compile(files)).toEqual([
      expect.stringContaining("code.ts: This comparison appears to be unintentional"),
      "title.ts: Type 'number' is not assignable to type 'string'.",
    ]);
  });
});

/** Redirects every request except preflights, and allows any origin. */
function redirectTo(url: string) {
  const cors = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      const status = request.method === "OPTIONS" ? 204 : 307;
      return new Response(null, { status, headers: { ...cors, location: url + pathname } });
    },
  });
}

/** An empty page and the modules that it imports. */
function servePage(project: string) {
  const file = (path: string) => new Response(Bun.file(join(project, path)));
  const headers = { "content-type": "text/html" };
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    routes: {
      "/": new Response("<!doctype html><link rel=icon href=data:,>", { headers }),
      "/index.js": file("node_modules/@latchkey/client/dist/index.js"),
      "/every-method.mjs": file("every-method.mjs"),
    },
  });
}

const PROGRAM = `
import { createClient, type ErrorCode, LatchkeyError, type Todo, type User } from "@latchkey/client";

const client = createClient({ baseUrl: "http://127.0.0.1:3000", retries: 3, maxRetryWaitMs: 60_000 });
const user: User = await client.register({ email: "ada@example.com", username: "ada", password: "12345678" });
const todo: Todo = await client.createTodo({ title: user.username });
for await (const { title, completed } of client.todos({ limit: 2 })) title.padEnd(completed ? 1 : todo.id);
await client.getMe({ signal: AbortSignal.timeout(1000) }).catch((error: unknown) => {
  if (!(error instanceof LatchkeyError)) throw error;
  const code: ErrorCode | undefined = error.code;
  if (code === "NOT_FOUND") return [];
  return error.status === 422 ? error.detail.map(({ msg }) => msg) : [error.detail.toUpperCase()];
});
`;

/** Compiles programs of the project in strict mode, including the declarations of the package; returns the errors. */
function compile(files: readonly string[]): string[] {
  const program = ts.createProgram(files, {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
    module: ts.ModuleKind.NodeNext,
    types: [],
  });
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const [message] = ts.flattenDiagnosticMessageText(messageText, "\n").split("\n");
    return `${basename(file?.fileName ?? "")}: ${message}`;
  });
}
