/** Without `ADMIN_PORT`, nothing of the administration is loaded or opened. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { startProcess } from "@latchkey/testing/service-process";

setDefaultTimeout(60_000);

test("the modules of the administration are loaded only with ADMIN_PORT", async () => {
  await using folder = await openFolder();
  const env = { DATABASE_URL: folder.databaseUrl, AUTH_SECRET_KEY: SECRET_KEY };
  const main = join(import.meta.dir, "../support/without-administration.ts");
  const keys = { ADMIN_API_KEYS: `shop:${"k".repeat(32)}` };
  await using off = startProcess({ ...env, ...keys }, { main });
  const url = await off.ready();
  expect((await fetch(`${url}/admin/users`)).status).toBe(404);
  expect((await off.line("ready")).administration).toBeUndefined();
  await using on = startProcess({ ...env, ...keys, ADMIN_PORT: "0" }, { main });
  const { code, stderr } = await on.ended();
  expect([code, stderr]).toEqual([3, expect.stringContaining("is loaded")]);
});
