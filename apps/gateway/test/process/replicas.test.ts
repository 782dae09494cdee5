/** Two replicas with one PostgreSQL and one Redis: clients cannot distinguish them from a single service. */
import { expect } from "bun:test";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { PATIENT_HASHING, post, startProcess } from "@latchkey/testing/service-process";
import { redisTest } from "../support/redis.ts";
import { SECRET_KEY } from "../support/service.ts";

const FIVE_ACCEPTED = [401, 401, 401, 401, 401, 429, 429, 429, 429, 429, 429, 429];

/** The sorted statuses of twelve simultaneous logins from one client address, distributed over the replicas. */
async function loginStatuses(urls: readonly string[], clientAddress: string): Promise<readonly number[]> {
  const login = (url = "") =>
    fetch(`${url}/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": clientAddress },
      body: JSON.stringify(credentials),
    });
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, index) => login(urls[index % urls.length])),
  );
  return responses.map(({ status }) => status).sort();
}

const credentials = { email: "ada@example.org", username: "ada", password: "correct horse" };

redisTest(
  "two replicas together accept five logins of a client, a token of one works at the other, and request ids pass through",
  async () => {
    await using stack = new AsyncDisposableStack();
    const postgres = stack.use(await startPostgresServer());
    const variables = {
      ...PATIENT_HASHING,
      DATABASE_URL: await postgres.createDatabase(),
      REDIS_URL: stack.use(await startRedisServer()).url,
      AUTH_SECRET_KEY: SECRET_KEY,
      TRUST_PROXY: "1",
    };
    // Both at once on an empty database.
    const replicas = [1, 2].map(() => stack.use(startProcess(variables)));
    const urls = await Promise.all(replicas.map((replica) => replica.ready()));
    expect(await loginStatuses(urls, "198.51.100.7")).toEqual(FIVE_ACCEPTED);
    expect((await post(`${urls[0]}/auth/register`, credentials)).status).toBe(201);
    const login = await post(`${urls[0]}/auth/login`, credentials);
    const { access_token } = (await login.json()) as { access_token: string };
    const headers = { authorization: `Bearer ${access_token}`, "x-request-id": "from-outside.1" };
    for (const url of urls) {
      const me = await fetch(`${url}/auth/me`, { headers });
      expect([me.status, me.headers.get("x-request-id")]).toEqual([200, "from-outside.1"]);
    }
  },
);
