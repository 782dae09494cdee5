/** Corrections of the system's clock while the service runs. */
import { expect } from "bun:test";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { PATIENT_HASHING, post, startProcess } from "@latchkey/testing/service-process";
import { createSystemClock, faketimeTest } from "../support/faketime.ts";

/** The status of a login of an unknown user: 401, or 429 with the seconds to wait. */
async function login(url: string, name = "nobody") {
  const response = await post(`${url}/auth/login`, { email: `${name}@example.org`, password: "x" });
  return [response.status, Number(response.headers.get("retry-after") ?? 0)];
}

// libfaketime does not run with the allocator of Redis: `store.test.ts` moves the times in Redis instead.
inFullRun(faketimeTest)(
  "limits in memory lock nobody out after the clock was set back or forward",
  async () => {
    await using folder = await openFolder();
    const clock = createSystemClock(folder.path);
    await using service = startProcess({
      ...PATIENT_HASHING,
      ...clock.env,
      DATABASE_URL: folder.databaseUrl,
      RATE_LIMIT_LOGIN: "2/second",
      HASH_KERNEL: "portable",
    });
    const url = await service.ready();
    for (const offset of ["-1h", "-31h", "+48h"]) {
      for (let count = 0; (await login(url, `other${count}`))[0] === 401; count++);
      clock.set(offset);
      const [status = 0, seconds] = await login(url);
      expect([401, 429]).toContain(status);
      expect([offset, seconds]).toEqual([offset, status === 429 ? 1 : 0]);
      // The service measures real time.
      await Bun.sleep(1100);
      expect([offset, ...(await login(url))]).toEqual([offset, 401, 0]);
    }
  },
);
