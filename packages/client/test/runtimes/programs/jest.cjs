const { createClient } = require("@latchkey/client");

const { SERVICE_URL, EMAIL, PASSWORD } = process.env;

test("a login", async () => {
  const client = createClient({ baseUrl: SERVICE_URL });
  await client.login({ email: EMAIL, password: PASSWORD });
  expect(await client.getMe()).toMatchObject({ email: EMAIL });
});
