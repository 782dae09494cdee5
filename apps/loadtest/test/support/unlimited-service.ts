/** The deployed service without rate limits, on an empty embedded database. */
import { openFolder } from "@latchkey/testing/folder";
import { PATIENT_HASHING, startProcess } from "@latchkey/testing/service-process";
import { querySqlite } from "@latchkey/testing/sqlite";

export async function startUnlimited(env: Record<string, string> = {}) {
  const folder = await openFolder();
  let metrics = "";
  const service = startProcess(
    {
      DATABASE_URL: folder.databaseUrl,
      RATE_LIMIT_ENABLED: "false",
      METRICS_PORT: "0",
      ...PATIENT_HASHING,
      ...env,
    },
    {
      onLine: (line) => {
        if (line.msg === "ready") metrics = String(line.metrics);
      },
    },
  );
  return {
    url: await service.ready(),
    metrics,
    database: folder.databaseUrl,
    folder: folder.path,
    /** The number of users that load tests have created and not deleted. */
    remainingUsers: async () => {
      const sql = "select count(*) as count from users where email like '%.loadtest.invalid'";
      return (await querySqlite<{ count: number }>(folder.databaseUrl, sql))[0]?.count;
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
