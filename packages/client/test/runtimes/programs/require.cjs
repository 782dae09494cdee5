const { createClient } = require("@latchkey/client");

const { SERVICE_URL, EMAIL, PASSWORD } = process.env;
const client = createClient({ baseUrl: SERVICE_URL, storage: () => localStorage });
client
  .login({ email: EMAIL, password: PASSWORD })
  .then(() => client.getMe())
  .then(({ username }) => process.stdout.write(`${process.version} ${username}`));
