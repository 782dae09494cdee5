import { createClient } from "@latchkey/client";

const { SERVICE_URL, EMAIL, PASSWORD } = process.env;
const client = createClient({ baseUrl: SERVICE_URL, storage: () => localStorage });
await client.login({ email: EMAIL, password: PASSWORD });
const { username } = await client.getMe();
process.stdout.write(`${process.version} ${username}`);
