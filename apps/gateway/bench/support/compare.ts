/** Compares the service with other programs that serve the same three routes; the servers are loaded in alternation. */
import { interleave, print, printRow } from "@latchkey/testing/benchmark";
import { type Load, type MeasuredServer, measureLoad } from "@latchkey/testing/measured-service";

export const ROUTES = ["/healthz", "/auth/me", "/todos?limit=20"];

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
export async function compareRoutes(servers: Servers, { rounds, ...load }: ComparisonOptions): Promise<void> {
  await checkResponses(servers, load.headers.authorization);
  print(`${rounds} rounds of ${load.seconds} s, ${load.connections} connections`);
  for (const path of ROUTES) {
    const tasks = Object.entries(servers).map(
      ([name, server]) => [name, () => measure({ ...server, path }, load)] as const,
    );
    const results = Object.entries(await interleave(Object.fromEntries(tasks), { rounds, warmUp: 1 }));
    const report = (unit: string, figure: "rate" | "microseconds") => {
      const rows = results.map(([name, list]) => [name, list.map((round) => round[figure])] as const);
      for (const [index, [name, values]] of rows.entries())
        printRow(
          `${path} ${name}, ${unit}`,
          values,
          index > 0 ? {} : { baselines: Object.fromEntries(rows.slice(1)) },
        );
    };
    print();
    report("requests/s", "rate");
    report("µs CPU", "microseconds");
  }
}

/** Requests per second, and processor time of the server per request, which other load on the machine affects less. */
export async function measure(
  { url, pid, path }: MeasuredServer & { readonly path: string },
  load: Omit<ComparisonOptions, "rounds">,
) {
  const before = await processorSeconds(pid);
  const { rate } = await measureLoad({ ...load, url: url + path });
  const used = (await processorSeconds(pid)) - before;
  return { rate, microseconds: (used * 1e6) / (rate * load.seconds) };
}

/** Processor time of a process on Linux (proc_pid_stat(5), in ticks of 1/100 s). */
async function processorSeconds(pid: number): Promise<number> {
  const stat = await Bun.file(`/proc/${pid}/stat`).text();
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function checkResponses(servers: Servers, authorization: string): Promise<void> {
  const read = async (url: string, token: string): Promise<string> => {
    const response = await fetch(url, { headers: { authorization: token } });
    return `${response.status} ${await response.text()}`;
  };
  const forged = authorization.replace(/[^.]*$/, "A".repeat(43));
  for (const path of ROUTES) {
    const bodies = await Promise.all(
      Object.values(servers).map(({ url }) => read(url + path, authorization)),
    );
    if (new Set(bodies).size > 1 || !bodies[0]?.startsWith("200 "))
      throw new Error(`${path}: the responses are ${bodies.join("\n")}`);
  }
  for (const [name, { url }] of Object.entries(servers)) {
    if (!(await read(`${url}/auth/me`, forged)).startsWith("401 "))
      throw new Error(`${name} accepts a forged token`);
  }
}
