/** `users …`: all commands for the users of the service. */
import { Command } from "commander";
import type { Variables } from "../environment.ts";
import { changeCommands } from "./change.ts";
import { createCommand, inviteCommand } from "./create.ts";
import { deleteCommand } from "./delete.ts";
import { explainCommand } from "./explain.ts";
import { withExamples } from "./help.ts";
import { exportCommand, importCommand, statsCommand } from "./import.ts";
import { listCommand, showCommand } from "./show.ts";

export function usersCommand(variables: Variables): Command {
  const users = withExamples(
    new Command("users").description("create, show, change and delete users"),
    [
      "bun run admin users list",
      "bun run admin users deactivate ada@example.com",
      "bun run admin users create --help",
    ],
    "E-mail addresses are trimmed and lowercased, as in the service. Password hashes\nare never printed.",
  );
  const commands = [
    ...[createCommand, inviteCommand, showCommand, explainCommand, listCommand],
    ...[changeCommands, deleteCommand, importCommand, exportCommand, statsCommand],
  ];
  for (const command of commands.flatMap((create) => create(variables))) users.addCommand(command);
  return users;
}
