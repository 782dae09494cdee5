/** Two replicas with one PostgreSQL and one Redis: clients cannot distinguish them from a single service. */
import { expect } from "bun:test";
import type { Token } from "@latchkey/contracts";
import { inFullRun } from "@latchkey/testing/full-run";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { PATIENT_HASHING, post, request, startProcess } from "@latchkey/testing/service-process";
import { redisTest } from "../support/redis.ts";
import { newCredentials, SECRET_KEY } from "../support/service.ts";

inFullRun(redisTest)(
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
    const body = newCredentials();
    const headers = { "x-forwarded-for": "198.51.100.7" };
    const logins = [...urls, ...urls, ...urls, ...urls].map((url) =>
      request(`${url}/auth/login`, { method: "POST", body, headers }),
    );
    const statuses = (await Promise.all(logins)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    expect((await post(`${urls[0]}/auth/register`, body)).status).toBe(201);
    const { access_token: token } = (await (await post(`${urls[0]}/auth/login`, body)).json()) as Token;
    for (const url of urls) {
      const me = await request(`${url}/auth/me`, { token, headers: { "x-request-id": "from-outside.1" } });
      expect([me.status, me.headers.get("x-request-id")]).toEqual([200, "from-outside.1"]);
    }
  },
);
