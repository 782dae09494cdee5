/** `events …`: whether the database records what happens to users. It is a property of the database, so all replicas agree. */
import { parseWholeNumber, toJson, write } from "@latchkey/cli";
import type { Database } from "@latchkey/database";
import { Command } from "commander";
import { withDatabase } from "../database.ts";
import type { Variables } from "../environment.ts";
import { JSON_OPTION, withExamples } from "./help.ts";

const MAX_DAYS = 365;

interface Options {
  readonly json?: boolean;
}

/** Prints whether events are recorded, and how many are stored. */
async function show({ events }: Database, json: boolean): Promise<void> {
  const state = await events.getState();
  const stored = await events.count();
  const text = state
    ? `Events are recorded and kept for ${state.days} days. ${stored} are stored.`
    : "Events are not recorded.";
  const values = {
    recorded: state !== null,
    days: state?.days ?? null,
    epoch: state?.epoch ?? null,
    last_position: state?.lastPosition ?? null,
    stored,
  };
  await write(`${json ? toJson(values) : text}\n`);
}

const onCommand = (variables: Variables): Command =>
  withExamples(
    new Command("on"),
    ["bun run admin events on", "bun run admin events on --days 90"],
    "Runs beside the service, without a restart. Waits for changes of users that are\nnot committed yet. Readers of earlier events get CURSOR_EXPIRED, and read all\nusers once. If events are recorded already, only the number of days\nchanges.",
  )
    .description("record the changes of users, also those by other programs")
    .option("--days <number>", "for how many days events are kept", "30")
    .option(...JSON_OPTION)
    .action(async ({ days, json = false }: Options & { readonly days: string }) => {
      const kept = parseWholeNumber({ name: "--days", text: days }, { min: 1, max: MAX_DAYS });
      await withDatabase(variables, async (database) => {
        await database.events.enable(kept);
        await show(database, json);
      });
    });

const offCommand = (variables: Variables): Command =>
  withExamples(
    new Command("off"),
    ["bun run admin events off"],
    "Runs beside the service, without a restart: its route then answers 404, and\nchanges of users cost no further write. Waits for changes of users that are not\ncommitted yet.",
  )
    .description("stop recording, and delete all events")
    .option(...JSON_OPTION)
    .action(async ({ json = false }: Options) => {
      await withDatabase(variables, async (database) => {
        await database.events.disable();
        await show(database, json);
      });
    });

const showCommand = (variables: Variables): Command =>
  withExamples(new Command("show"), ["bun run admin events show --json"])
    .description("print whether events are recorded, and how many are stored")
    .option(...JSON_OPTION)
    .action(async ({ json = false }: Options) => {
      await withDatabase(variables, (database) => show(database, json));
    });

export const eventsCommand = (variables: Variables): Command =>
  new Command("events")
    .description("record the changes of users for other services")
    .addCommand(onCommand(variables))
    .addCommand(offCommand(variables))
    .addCommand(showCommand(variables));
