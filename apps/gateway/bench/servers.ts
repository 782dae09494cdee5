/** The servers of the benchmarks: bare programs of this folder, and data for the service. */
import { join } from "node:path";
import { type MeasuredServer, startProgram } from "@latchkey/testing/measured-service";
import { post } from "@latchkey/testing/service-process";

/** Starts a bare program of this folder, for comparison with the service. */
export const startBare = (
  source: "bare.ts" | "bare-queries.ts",
  ...args: string[]
): Promise<MeasuredServer> => startProgram(join(import.meta.dir, source), ...args);

/** Creates more todos than one page holds, and a user; returns the request headers that identify this user. */
export async function seed(url: string): Promise<{ readonly authorization: string }> {
  const user = { email: "bench@example.org", username: "bench", password: "correct horse battery" };
  for (let index = 1; index <= 25; index++) await post(`${url}/todos`, { title: `Todo number ${index}` });
  await post(`${url}/auth/register`, user);
  const response = await post(`${url}/auth/login`, user);
  const { access_token } = (await response.json()) as { access_token: string };
  return { authorization: `Bearer ${access_token}` };
}
