/** `users explain`: the states of a user in the order in which a login meets them. */
import { expect, test } from "bun:test";
import { noPassword } from "@latchkey/database";
import { freePort } from "@latchkey/testing/server-process";
import { EMAIL, openSharedDatabase } from "../support/shared-database.ts";
import { runTool } from "../support/tool.ts";

test("explain states in order what prevents a login, and the command that changes it", async () => {
  await using shared = await openSharedDatabase();
  const explain = async (env: Readonly<Record<string, string>> = {}) => {
    const { code, stdout } = await runTool(["users", "explain", EMAIL, "--json"], {
      env: { ...shared.env, ...env },
    });
    const sentences: { code: string; command?: string }[] = JSON.parse(stdout);
    return [code, sentences.map(({ code, command }) => [code, command?.split(" ")[4]])];
  };
  expect(await explain()).toEqual([0, [["unknown", "create"]]]);
  await shared.insert(["ada"]);
  const others = [
    ["passkeys", undefined],
    ["identities", undefined],
    ["last_login", undefined],
  ];
  const unknown = ["limits_unknown", undefined];
  expect(await explain()).toEqual([0, [["succeeds", undefined], unknown, ...others]]);
  const unreachable = { REDIS_URL: `redis://127.0.0.1:${freePort()}`, AUTH_SECRET_KEY: "k" };
  expect(await explain(unreachable)).toEqual([0, [["succeeds", undefined], unknown, ...others]]);
  expect(await explain({ RATE_LIMIT_ENABLED: "false" })).toEqual([0, [["succeeds", undefined], ...others]]);
  await shared.database.users.changeAsOperator(1, { isActive: false });
  const strict = { AUTH_REQUIRE_VERIFIED_EMAIL: "true", RATE_LIMIT_ENABLED: "false" };
  const blocked = [
    ["inactive", "activate"],
    ["unverified", "send-reset"],
  ];
  expect(await explain(strict)).toEqual([0, [...blocked, ...others]]);
  await shared.database.users.changeAsOperator(
    1,
    { email: "new@example.com" },
    { notifies: false, endedPassword: noPassword() },
  );
  const { stdout } = await runTool(["users", "explain", "1"], { env: shared.env });
  expect(stdout).toContain(
    "has no password: every password gets 401 INVALID_CREDENTIALS.\n    bun run admin users invite new@example.com\n",
  );
  expect((await runTool(["users", "explain", "99"], { env: shared.env })).code).toBe(1);
});
