/** The client of the administration against the deployed service; the types come from its document. */
import { expect, test } from "bun:test";
import { openFolder } from "@latchkey/testing/folder";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { PATIENT_HASHING, startProcess } from "@latchkey/testing/service-process";
import { createAdminClient, LatchkeyError } from "../src/admin.ts";
import type { operations } from "../src/admin-schema.ts";
import { errorOf } from "./support/service.ts";

const KEY = "k".repeat(43);

test("a program administers users with its key, and gets typed errors", async () => {
  await using folder = await openFolder();
  const variables = { ...PATIENT_HASHING, DATABASE_URL: folder.databaseUrl, AUTH_SECRET_KEY: SECRET_KEY };
  const administration = { ADMIN_PORT: "0", ADMIN_API_KEYS: `shop:${KEY}` };
  await using service = startProcess({ ...variables, ...administration });
  const url = String((await service.line("ready")).administration).replace(/\/admin$/, "");
  const admin = createAdminClient({ baseUrl: url, apiKey: KEY });
  // Each operation has a method: otherwise, this is a type error.
  admin satisfies Readonly<Record<keyof operations, unknown>>;
  const { id } = await admin.createUser({
    email: "ada@example.com",
    username: "ada",
    password: "correct horse",
  });
  expect(await admin.updateUser(id, { is_active: false, reason: "spam" })).toMatchObject({
    is_active: false,
  });
  expect(await admin.explainUser(id)).toContainEqual(expect.objectContaining({ code: "inactive" }));
  await admin.createUser({ email: "bob@example.com", invite: true });
  const found: string[] = [];
  for await (const user of admin.iterateUsers({ limit: 1 })) found.push(user.username);
  expect(found).toEqual(["ada", "bob"]);
  expect(await admin.countUsers()).toMatchObject({ users: 2, inactive: 1 });
  await admin.revokeUserTokens(id, { reason: "lost" });
  expect(await errorOf(admin.removeUserFactor(id))).toMatchObject({ code: "FACTOR_NOT_FOUND" });
  await admin.deleteUser(id);
  expect(await errorOf(admin.getUser(id))).toMatchObject({ status: 404, code: "USER_NOT_FOUND" });
  // No events are recorded.
  expect(await errorOf(admin.readEvents({ after: "now", wait: 1 }))).toMatchObject({ code: "NOT_FOUND" });
  const stranger = createAdminClient({ baseUrl: url, apiKey: "wrong" });
  const error = await errorOf(stranger.listUsers());
  expect(error).toBeInstanceOf(LatchkeyError);
  expect(error).toMatchObject({ status: 401, code: "INVALID_API_KEY" });
});
