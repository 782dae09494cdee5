/** The deployed service on a new embedded database, whose folder is removed with it. */
import { openFolder } from "@latchkey/testing/folder";
import { PATIENT_HASHING, type StartOptions, startProcess } from "@latchkey/testing/service-process";

export async function startInFolder(env: Readonly<Record<string, string>> = {}, options: StartOptions = {}) {
  const folder = await openFolder();
  const service = startProcess({ DATABASE_URL: folder.databaseUrl, ...PATIENT_HASHING, ...env }, options);
  return {
    ...service,
    folder,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
