/** Compares the service with other programs that serve the same three routes; the servers are loaded in alternation. */
import { join } from "node:path";
import { interleave, print, printRow } from "@latchkey/testing/benchmark";
import { SECRET_KEY } from "@latchkey/testing/keys";
import {
  type Load,
  type MeasuredServer,
  measureLoad,
  processorSeconds,
  startProgram,
} from "@latchkey/testing/measured-service";

const YARDSTICK = join(import.meta.dir, "../yardsticks/elysia.ts");
const ROUTES = ["/healthz", "/auth/me", "/todos?limit=20"];

type Servers = Readonly<Record<string, MeasuredServer>>;

interface ComparisonOptions extends Load {
  readonly rounds: number;
  /** Authenticate a user of the service. */
  readonly headers: { readonly authorization: string };
}

/**
 * Prints the figures of all servers, and the ratios of the first one, the service, to the others.
 * @throws if the servers do not return the same bodies, or one accepts a token with a wrong signature
 */
export async function compareRoutes(servers: Servers, options: ComparisonOptions): Promise<void> {
  await checkResponses(servers, options.headers.authorization);
  print(`${options.rounds} rounds of ${options.seconds} s, ${options.connections} connections`);
  for (const path of ROUTES) {
    const results = Object.entries(await measureRoute(servers, path, options));
    print();
    for (const figure of ["requests/s", "µs CPU"] as const) {
      const rows = results.map(([name, list]) => [name, list.map((round) => round[figure])] as const);
      for (const [index, [name, values]] of rows.entries()) {
        const baselines = index > 0 ? {} : Object.fromEntries(rows.slice(1));
        printRow(`${path} ${name}, ${figure}`, values, { baselines });
      }
    }
  }
}

/** Starts the yardstick on the same database. */
export const startElysia = (url: string, poolSize = "") =>
  startProgram(process.execPath, YARDSTICK, url, SECRET_KEY, poolSize);

/**
 * Loads each server in each round. Measures requests per second, and processor time of the server per request, which other load
 * on the machine affects less.
 */
function measureRoute(servers: Servers, path: string, { rounds, ...load }: ComparisonOptions) {
  const tasks = Object.entries(servers).map(([name, { url, pid }]) => {
    const measure = async () => {
      const before = await processorSeconds(pid);
      const { rate } = await measureLoad({ ...load, url: url + path });
      const used = (await processorSeconds(pid)) - before;
      return { "requests/s": rate, "µs CPU": (used * 1e6) / (rate * load.seconds) };
    };
    return [name, measure] as const;
  });
  return interleave(Object.fromEntries(tasks), { rounds, warmUp: 1 });
}

async function checkResponses(servers: Servers, authorization: string): Promise<void> {
  const urls = Object.values(servers).map(({ url }) => url);
  const read = (path: string, authorization: string) =>
    Promise.all(
      urls.map(async (url) => {
        const response = await fetch(url + path, { headers: { authorization } });
        return `${response.status} ${await response.text()}`;
      }),
    );
  for (const path of ROUTES) {
    const bodies = await read(path, authorization);
    if (new Set(bodies).size > 1 || !bodies[0]?.startsWith("200 "))
      throw new Error(`${path}: the responses are ${bodies.join("\n")}`);
  }
  const forged = await read("/auth/me", authorization.replace(/[^.]*$/, "A".repeat(43)));
  if (!forged.every((body) => body.startsWith("401 "))) throw new Error("A server accepts a forged token");
}
