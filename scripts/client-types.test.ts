/** The types of `packages/client` agree with the OpenAPI document. */
import { expect, test } from "bun:test";
import { ADMIN_CLIENT_TYPES, CLIENT_TYPES, generateClientTypes } from "./client-types.ts";

test("the client's types are up to date; otherwise run bun run --cwd packages/client generate", async () => {
  expect(await Bun.file(CLIENT_TYPES).text()).toBe(await generateClientTypes("--all"));
  expect(await Bun.file(ADMIN_CLIENT_TYPES).text()).toBe(await generateClientTypes("--administration"));
});
