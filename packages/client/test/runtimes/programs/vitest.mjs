import { createClient } from "@latchkey/client";
import { expect, test } from "vitest";

const { SERVICE_URL, EMAIL, PASSWORD } = process.env;

test("a login, which a new client finds in the storage", async () => {
  expect(navigator.userAgent).toContain("HappyDOM");
  const options = { baseUrl: SERVICE_URL, storage: () => localStorage };
  const client = createClient(options);
  await client.login({ email: EMAIL, password: PASSWORD });
  expect(await client.getMe()).toMatchObject({ email: EMAIL });
  expect(createClient(options).token).toBe(client.token);
});
