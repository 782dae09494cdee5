/** Nothing of a feature that is off is loaded or opened. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { startProcess } from "@latchkey/testing/service-process";
import { OPTIONAL_FEATURES } from "../../src/features/optional-features.ts";

const main = join(import.meta.dir, "../support/without-optional-modules.ts");
/** The folder of the first module that is loaded. The key of second factors is opened before the feature. */
const moduleOf = (name: string): string =>
  name === "secondFactor"
    ? "packages/administration/"
    : `features/${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}/`;
const keys = { ADMIN_API_KEYS: `shop:${"k".repeat(32)}` };

test("without their variables, the modules of optional features are not loaded", async () => {
  await using folder = await openFolder();
  const env = { DATABASE_URL: folder.databaseUrl, AUTH_SECRET_KEY: SECRET_KEY, ...keys };
  await using service = startProcess(env, { main });
  const url = await service.ready();
  for (const path of ["/admin/users", "/auth/factor", "/auth/identities", "/auth/passkeys"])
    expect([path, (await fetch(url + path)).status]).toEqual([path, 404]);
  expect((await service.line("ready")).administration).toBeUndefined();
});

inFullRun(test).each([
  ["administration", { ...keys, ADMIN_PORT: "0" }],
  ...OPTIONAL_FEATURES.map(({ name, example }) => [moduleOf(name), example] as const),
])("the modules of %s are loaded only with its variables", async (name, variables) => {
  await using folder = await openFolder();
  const env = { DATABASE_URL: folder.databaseUrl, AUTH_SECRET_KEY: SECRET_KEY, ...variables };
  await using service = startProcess(env, { main });
  const { code, stderr } = await service.ended();
  expect([code, stderr]).toEqual([3, expect.stringMatching(new RegExp(`${name}.* is loaded`))]);
});
