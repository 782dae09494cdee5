/** `hash …`: what password hashing costs on this machine. */
import { Command } from "commander";
import { type Capacity, measureCapacity } from "../capacity.ts";
import { readHashing, type Variables } from "../environment.ts";
import { toJson, write } from "../output.ts";
import { parseWhole } from "../people.ts";
import { JSON_OPTION, teach } from "./help.ts";

export function hashCommand(variables: Variables): Command {
  return new Command("hash")
    .description("measure password hashing on this machine")
    .addCommand(benchCommand(variables));
}

function benchCommand(variables: Variables): Command {
  const command = new Command("bench")
    .description("say in a sentence how many logins a second this machine can check")
    .option("--seconds <count>", "how long to measure, 1 to 60", "3")
    .option(...JSON_OPTION)
    .action(async ({ seconds, json = false }: { seconds: string; json?: boolean }) => {
      const duration = parseWhole("--seconds", seconds, [1, 60]);
      const capacity = await measureCapacity(readHashing(variables), duration);
      await write(`${json ? toJson(toShape(capacity)) : sentence(capacity)}\n`);
    });
  return teach(
    command,
    ["bun run admin hash bench", "HASH_WORKERS=1 HASH_KERNEL=portable bun run admin hash bench --seconds 10"],
    "Takes every core that the workers may use: a service on the same\nmachine slows down meanwhile. HASH_WORKERS and HASH_KERNEL mean what they mean\nto the service.",
  );
}

function sentence({ kernel, workers, lanes, derivationsPerSecond, fallbackReason }: Capacity): string {
  const main =
    `This machine checks ${derivationsPerSecond.toFixed(1)} logins a second (one derivation of 600,000 iterations each) ` +
    `with the ${kernel} kernel in ${count(workers, "worker")} of ${count(lanes / workers, "lane")}`;
  return fallbackReason === null ? `${main}.` : `${main}; a faster kernel does not serve: ${fallbackReason}.`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

const toShape = ({ kernel, workers, lanes, derivationsPerSecond, fallbackReason }: Capacity) => ({
  kernel,
  workers,
  lanes,
  derivations_per_second: Math.round(derivationsPerSecond * 10) / 10,
  fallback_reason: fallbackReason,
});
