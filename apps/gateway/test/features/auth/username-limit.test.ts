/** A user changes the username at most ten times a minute. */
import { expect, test } from "bun:test";
import { monotonicNow } from "../../../src/rate-limit/clock.ts";
import { createMemoryStore } from "../../../src/rate-limit/store.ts";
import { eachDatabase, newCredentials } from "../../support/service.ts";

eachDatabase((startOn) => {
  test("of simultaneous changes of a username, ten a minute take effect; those that change nothing do not count", async () => {
    let passedMs = 0;
    const store = createMemoryStore(() => monotonicNow() + passedMs);
    const env = { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_REGISTER: "9/minute" };
    await using service = await startOn({ env, store });
    const [{ token, user }, other] = [await service.createUser(), await service.createUser()];
    const rename = (username: string, as = token) =>
      service.call("PATCH", "/auth/me", { token: as, body: { username } });
    for (let count = 1; count <= 11; count++) {
      expect((await rename(user.username)).status).toBe(200);
      expect((await rename(other.user.username)).body).toMatchObject({ code: "USER_ALREADY_EXISTS" });
    }
    const renameTogether = async () => {
      const names = Array.from({ length: 20 }, () => newCredentials().username);
      const statuses = await Promise.all(names.map(async (name) => (await rename(name)).status));
      return Object.groupBy(statuses, String);
    };
    const renamed = await renameTogether();
    expect([renamed[200]?.length, renamed[429]?.length]).toEqual([10, 10]);
    const rejected = await rename("x");
    expect(rejected.body).toEqual({
      detail: "429: Too Many Requests: 10 changes of the username per 1 minute",
      code: "TOO_MANY_REQUESTS",
    });
    expect(Number(rejected.headers.get("retry-after"))).toBeWithin(1, 61);
    expect((await rename("y", other.token)).status).toBe(200);
    passedMs = 60_000;
    expect((await renameTogether())[200]).toHaveLength(10);
  });
});
