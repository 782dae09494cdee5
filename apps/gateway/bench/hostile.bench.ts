/**
 * How long the most expensive known requests block the event loop. Exits with 1 if one of them blocks it
 * for more than 3 ms.
 */
import { join } from "node:path";
import { median, parseOptions, print, printRow } from "@latchkey/testing/benchmark";
import { openFolder } from "@latchkey/testing/folder";
import { startService } from "@latchkey/testing/measured-service";
import { createHostileRequests, type HostileRequest } from "../test/adversarial/hostile-requests.ts";
import { openWire } from "../test/support/wire.ts";
import { seed } from "./support/clients.ts";
import type { Hold } from "./support/event-loop-delay.ts";

const { rounds } = parseOptions({ rounds: 15 });
const LIMIT_MS = 3;

await using folder = await openFolder();
const unix = join(folder.path, "event-loop.sock");
await using service = await startService({
  BUN_OPTIONS: `--preload=${join(import.meta.dir, "support/event-loop-delay.ts")}`,
  EVENT_LOOP_DELAY: unix,
  RATE_LIMIT_ENABLED: "false",
});
const port = Number(new URL(service.url).port);
const { authorization } = await seed(service.url);
const explorer = await (await fetch(`${service.url}/docs`)).text();
const requests = createHostileRequests({
  token: authorization.slice("Bearer ".length),
  largestAsset: /"([^"]+swagger-ui\.js)"/.exec(explorer)?.[1] ?? "",
});

const command = async (path: string): Promise<Hold> =>
  (await (await fetch(`http://event-loop${path}`, { unix })).json()) as Hold;

async function measure({ method, bytes }: HostileRequest): Promise<Hold & { readonly status: number }> {
  using wire = await openWire({ port });
  await command("/start");
  wire.send(bytes);
  const response = await wire.readResponse(method);
  return { ...(await command("/stop")), status: response?.status ?? 0 };
}

print(`Each request was sent ${rounds} times, alone, over a connection of its own, to a service process that had just started.
A task in that process runs in every turn of the event loop. A request holds the loop for the longest time between two
turns, without the time in which the kernel ran another thread on that core (Linux). The median decides: at most ${LIMIT_MS} ms.
The first time includes just-in-time compilation, the longest can include garbage collection. No request leads to a
derivation, because the time of these depends on the hashing threads.
`);
for (const request of requests) {
  const holds: Awaited<ReturnType<typeof measure>>[] = [];
  for (let round = 0; round < rounds; round++) holds.push(await measure(request));
  const longest = holds.map(({ longestMs }) => longestMs);
  const statuses = [...new Set(holds.map(({ status }) => status))].join();
  printRow(`${statuses} ${request.name}`, longest, { digits: 2 });
  if (median(longest) <= LIMIT_MS) continue;
  print("    TOO LONG");
  process.exitCode = 1;
}
