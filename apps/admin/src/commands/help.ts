/** The parts that every command's help shares. */
import type { Command } from "commander";

export const JSON_OPTION = ["--json", "print JSON instead of text"] as const;

/** Puts examples, one a line, and then any further paragraphs below a command's help. */
export function teach(
  command: Command,
  examples: readonly string[],
  ...paragraphs: readonly string[]
): Command {
  const block = `Examples:\n${examples.map((example) => `  ${example}`).join("\n")}`;
  return command.addHelpText("after", `\n${[block, ...paragraphs].join("\n\n")}`);
}
