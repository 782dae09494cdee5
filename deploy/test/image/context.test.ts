/** The build context contains sources and manifests, and no secrets, generated files or downloads. */
import { describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";
import { isIgnored, listContext, parseIgnoreFile } from "./context.ts";

async function createCheckout(paths: readonly string[]) {
  const root = await mkdtemp(join(tmpdir(), "latchkey-context-"));
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await Bun.write(join(root, path), "");
  }
  await Bun.write(join(root, ".dockerignore"), Bun.file(join(ROOT, ".dockerignore")));
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true }) };
}

describe("build context", () => {
  test("the build context contains sources and manifests", async () => {
    const paths = [
      "apps/gateway/src/main.ts",
      "bun.lock",
      "package.json",
      "packages/hashing/native/addon.c",
      "turbo.json",
    ];
    await using checkout = await createCheckout(paths);
    expect(await listContext(checkout.root)).toEqual(paths);
  });

  test.each([
    [".env"],
    [".git/config"],
    ["data/latchkey.db"],
    ["data/auth-secret-key"],
    ["node_modules/typebox/package.json"],
    ["apps/gateway/.env.local"],
    ["apps/gateway/Dockerfile"],
    ["apps/gateway/node_modules/elysia/package.json"],
    ["apps/gateway/test/client.ts"],
    ["packages/hashing/bench/hashing.bench.ts"],
    ["packages/hashing/native/build/latchkey.node"],
  ])("the build context does not contain %s", async (path) => {
    await using checkout = await createCheckout([path]);
    expect(await listContext(checkout.root)).toEqual([]);
  });
});

describe("the .dockerignore parser", () => {
  test("the last rule that matches a path or a parent folder applies", () => {
    const rules = parseIgnoreFile("# all\n*\n!apps\n**/test\n!apps/one/test/kept.ts\n");
    expect(isIgnored(rules, "README.md")).toBe(true);
    expect(isIgnored(rules, "apps/one/src/main.ts")).toBe(false);
    expect(isIgnored(rules, "apps/one/test/a.ts")).toBe(true);
    expect(isIgnored(rules, "apps/one/test/kept.ts")).toBe(false);
  });
});
