/** The baseline servers of the benchmarks and the data of the service. */
import { join } from "node:path";
import { type MeasuredServer, startProgram } from "@latchkey/testing/measured-service";
import { post } from "@latchkey/testing/service-process";

/** More than one page. */
const TODOS = 25;

/** Starts a baseline server of this folder. */
export const startBaseline = (
  source: "baseline.ts" | "baseline-queries.ts",
  ...args: string[]
): Promise<MeasuredServer> => startProgram(join(import.meta.dir, source), ...args);

/** Creates todos and a user; returns the request headers that authenticate this user. */
export async function seed(url: string): Promise<{ readonly authorization: string }> {
  const user = { email: "bench@example.org", username: "bench", password: "correct horse battery" };
  for (let index = 1; index <= TODOS; index++) await post(`${url}/todos`, { title: `Todo number ${index}` });
  await post(`${url}/auth/register`, user);
  const response = await post(`${url}/auth/login`, user);
  const { access_token } = (await response.json()) as { access_token: string };
  return { authorization: `Bearer ${access_token}` };
}
