/** Help and options that the commands share. */
import type { Command } from "commander";

export const USER = ["<user>", "e-mail address, or id as in the service's logs"] as const;
export const JSON_OPTION = ["--json", "print JSON instead of text, also for errors"] as const;

export const REASON_OPTION = ["--reason <text>", "why, for the log line of the change"] as const;

export const ABOUT_PASSWORDS = `The password (8 to 128 characters, unless PASSWORD_MIN_LENGTH is set) is read
twice from the terminal, without echo. If standard input is not a terminal, it
must contain one line, the password. A password is never an argument: other
users of the machine could read it.`;

/** Adds examples, one per line, and further paragraphs below the help of a command. */
export function withExamples(command: Command, examples: readonly string[], ...paragraphs: string[]) {
  const lines = examples.map((example) => `  ${example}`).join("\n");
  return command.addHelpText("after", `\n${[`Examples:\n${lines}`, ...paragraphs].join("\n\n")}`);
}
