import { createClient } from "@latchkey/client";

export default {
  async test(_controller, { SERVICE_URL, EMAIL, PASSWORD }) {
    const client = createClient({ baseUrl: SERVICE_URL, storage: () => localStorage });
    await client.login({ email: EMAIL, password: PASSWORD });
    const { email } = await client.getMe();
    if (email !== EMAIL) throw new Error(`Wrong user: ${email}`);
  },
};
