/**
 * Runs the command in the arguments, by default the service. Each command imports only what it needs: the modules of the
 * service are most of the time that a start takes.
 */
import { readFileSync } from "node:fs";
import { CliError, EXIT, printable } from "@latchkey/cli";
import type { Variables } from "@latchkey/config";
import type { ServeContext } from "./serve.ts";
import { VERSION } from "./version.ts";

interface ProgramContext extends ServeContext {
  readonly variables: Variables;
}

const USAGE = "Usage: bun start [--ephemeral | --check-config | --help | --version]";

async function readContext({ PASSWORD_BLOCKLIST }: Variables) {
  const { openPasswordBlocklist } = await import("@latchkey/config");
  const { kernels } = await import("@latchkey/hashing");
  return {
    blocklist: await openPasswordBlocklist(PASSWORD_BLOCKLIST),
    kernels: kernels().map(({ name }) => name),
    isTerminal: process.stdout.isTTY === true,
    readFile: (path: string, encoding: "utf8" | "latin1" = "utf8") => readFileSync(path, encoding),
  };
}

async function runService({ variables, ...context }: ProgramContext): Promise<void> {
  const { parseConfig } = await import("./config.ts");
  const configContext = await readContext(variables);
  const config = parseConfig(variables, configContext);
  const { serve } = await import("./serve.ts");
  await serve(config, configContext.blocklist, context);
}

async function runEphemeralService({ variables: given, ...context }: ProgramContext): Promise<void> {
  const { createEphemeralService } = await import("./ephemeral.ts");
  const { variables, describe } = createEphemeralService(given);
  await runService({ ...context, variables, onReady: (urls) => void process.stdout.write(describe(urls)) });
}

async function printConfig(variables: Variables): Promise<void> {
  const { checkConfig } = await import("./config.ts");
  const { values, warnings } = checkConfig(variables, await readContext(variables));
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
  process.stdout.write(values);
}

/** Exits if the start fails. */
export async function run(args: readonly string[], context: ProgramContext): Promise<void> {
  const exitWith = (message: string, code: number): void => {
    process.stderr.write(`${message}\n`);
    context.exit(code);
  };
  try {
    switch (args.length > 1 ? null : args[0]) {
      case undefined:
        return await runService(context);
      case "--ephemeral":
        return await runEphemeralService(context);
      case "--check-config":
        return await printConfig(context.variables);
      case "--help":
        return void process.stdout.write(`${USAGE}\n${(await import("./config.ts")).describeOptions()}`);
      case "--version":
        return void process.stdout.write(`${VERSION}\n`);
      default:
        throw new CliError(`Invalid arguments: ${printable(args.join(" "))}\n${USAGE}`, EXIT.usage);
    }
  } catch (error) {
    if (error instanceof CliError) return exitWith(error.message, error.exitCode);
    // Matched by its code, because a usage error must not import the configuration.
    if (!(error instanceof Error && "code" in error && error.code === "CONFIGURATION_ERROR")) throw error;
    exitWith(error.message, EXIT.config);
  }
}
