/** Compares the service with other programs that serve the same three routes. */
import type { MeasuredServer } from "@latchkey/testing/measured-service";
import { type ComparisonOptions, compare, describeRounds, medianRate } from "./compare.ts";
import { print } from "./options.ts";

const ROUTES = ["/healthz", "/auth/me", "/todos?limit=20"];

interface RouteComparisonOptions extends Omit<ComparisonOptions<string>, "path" | "headers"> {
  /** Of a user of the service. */
  readonly authorization: string;
}

/**
 * Prints a Markdown table with the medians of the first server and, for each other one, its median and the first one's in
 * percent of it, and below it all rounds.
 * @throws if the servers do not return the same bodies, or one accepts a token with a wrong signature
 */
export async function compareRoutes({ authorization, ...options }: RouteComparisonOptions): Promise<void> {
  await checkResponses(Object.entries(options.servers), authorization);
  const [service = "", ...yardsticks] = Object.keys(options.servers);
  const table = [
    ["Requests/s", service, ...yardsticks.flatMap((name) => [name, "%"])],
    ["---", ...Array.from({ length: 1 + 2 * yardsticks.length }, () => "--:")],
  ];
  const details: string[] = [];
  for (const path of ROUTES) {
    const results = Object.entries(await compare({ ...options, path, headers: { authorization } }));
    const [rate = 0, ...others] = results.map(([, rounds]) => medianRate(rounds));
    const cells = others.flatMap((other) => [format(other), ((100 * rate) / other).toFixed(0)]);
    table.push([`\`${path}\``, format(rate), ...cells]);
    details.push(`\n${path}`, ...results.map(([name, rounds]) => `  ${name}: ${describeRounds(rounds)}`));
  }
  print();
  for (const cells of table) print(`| ${cells.join(" | ")} |`);
  for (const line of details) print(line);
}

const format = (rate: number): string => Math.round(rate).toLocaleString("en");

async function checkResponses(
  servers: readonly (readonly [name: string, server: MeasuredServer])[],
  authorization: string,
): Promise<void> {
  const read = async (url: string, token: string): Promise<string> => {
    const response = await fetch(url, { headers: { authorization: token } });
    return `${response.status} ${await response.text()}`;
  };
  const forged = authorization.replace(/[^.]*$/, "A".repeat(43));
  for (const path of ROUTES) {
    const bodies = await Promise.all(
      servers.map(async ([name, { url }]) => [name, await read(url + path, authorization)] as const),
    );
    const [, expected] = bodies[0] ?? [];
    for (const [name, body] of bodies) {
      if (body !== expected || !body.startsWith("200 "))
        throw new Error(`${path}: ${name} returned ${body} instead of ${expected}`);
    }
  }
  for (const [name, { url }] of servers) {
    if (!(await read(`${url}/auth/me`, forged)).startsWith("401 "))
      throw new Error(`${name} accepts a forged token`);
  }
}
