/** The deployed service for tests of the client, and a `fetch` that records the status of each response. */
import { openFolder } from "@latchkey/testing/folder";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { PATIENT_HASHING, startProcess } from "@latchkey/testing/service-process";

export type RunningService = Awaited<ReturnType<typeof startService>>;

/** Starts the service with a new embedded database and without rate limits, unless `env` states otherwise. */
export async function startService(env: Readonly<Record<string, string>> = {}) {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await openFolder());
  const variables = {
    ...PATIENT_HASHING,
    DATABASE_URL: folder.databaseUrl,
    AUTH_SECRET_KEY: SECRET_KEY,
    RATE_LIMIT_ENABLED: "false",
  };
  const service = stack.use(startProcess({ ...variables, ...env }));
  const url = await service.ready();
  const resources = stack.move();
  return { url, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

export function recordingFetch() {
  const statuses: number[] = [];
  const send = async (request: Request): Promise<Response> => {
    const response = await fetch(request);
    statuses.push(response.status);
    return response;
  };
  return { statuses, fetch: send };
}

export const ADA = { email: "ada@example.com", username: "ada", password: "correct horse battery staple" };

/** The error with which a method rejects; what it returns if it does not. */
export const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch((reason: unknown) => reason);
