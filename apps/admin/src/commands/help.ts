/** Help and options that the commands share. */
import type { Command } from "commander";

export const USER = ["<user>", "e-mail address, or id as in the service's logs"] as const;
export const JSON_OPTION = ["--json", "print JSON instead of text, also for errors"] as const;

export const REASON_OPTION = ["--reason <text>", "why, for the log line of the change"] as const;

/** Adds examples, one per line, and further paragraphs below the help of a command. */
export function withExamples(command: Command, examples: readonly string[], ...paragraphs: string[]) {
  const lines = examples.map((example) => `  ${example}`).join("\n");
  return command.addHelpText("after", `\n${[`Examples:\n${lines}`, ...paragraphs].join("\n\n")}`);
}
