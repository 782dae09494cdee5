/** The administration in a process: its keys are replaced by restarts. */
import { expect, test } from "bun:test";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { request, startProcess } from "@latchkey/testing/service-process";

inFullRun(test)(
  "a key is replaced without an outage: between the restarts, both keys are accepted under one name",
  async () => {
    await using folder = await openFolder();
    const env = { DATABASE_URL: folder.databaseUrl, AUTH_SECRET_KEY: SECRET_KEY, ADMIN_PORT: "0" };
    const [present, next] = ["p".repeat(32), "n".repeat(32)];
    const restartWith = async (...keys: string[]) => {
      await using service = startProcess({ ...env, ADMIN_API_KEYS: keys.map((key) => `shop:${key}`).join() });
      const url = `${(await service.line("ready")).administration}/users/1/tokens`;
      const send = async (token: string) => (await request(url, { method: "DELETE", token })).status;
      return [await send(present), await send(next)];
    };
    expect(await restartWith(present)).toEqual([404, 401]);
    expect(await restartWith(present, next)).toEqual([404, 404]);
    expect(await restartWith(next)).toEqual([401, 404]);
  },
);
