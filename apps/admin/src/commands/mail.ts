/** `mail …`: the mail server. */
import { CliError, EXIT, toJson, write } from "@latchkey/cli";
import { openSmtpTransport } from "@latchkey/mail";
import { Command } from "commander";
import { readVariables, type Variables } from "../environment.ts";
import { parseEmail } from "../user-arguments.ts";
import { JSON_OPTION, withExamples } from "./help.ts";

export function mailCommand(variables: Variables): Command {
  const test = withExamples(
    new Command("test"),
    ["bun run admin mail test you@example.com"],
    "Connects to MAIL_URL as the service does, and sends a mail from MAIL_FROM.",
  )
    .description("send a test mail")
    .argument("<address>", "recipient")
    .option(...JSON_OPTION)
    .action(async (text: string, { json = false }: { json?: boolean }) => {
      const to = parseEmail(text);
      const { MAIL_URL: server, MAIL_FROM: from } = readVariables(["MAIL_URL", "MAIL_FROM"], variables);
      if (server === null || from === null)
        throw new CliError(`${server ? "MAIL_FROM" : "MAIL_URL"}: is not set`, EXIT.config);
      await openSmtpTransport(server).send({ from, to, subject: "Test", text: "This mail server works.\n" });
      await write(`${json ? toJson({ sent: to }) : `The mail server accepted a mail to ${to}.`}\n`);
    });
  return new Command("mail").description("test the mail server").addCommand(test);
}
