/** `mail …`: tests the mail server. */
import { CliError, EXIT, printable, toJson, write } from "@latchkey/cli";
import { MAIL_OPTIONS, mailOptions } from "@latchkey/config";
import { MAIL_KINDS, type MailKind } from "@latchkey/contracts";
import { createMails, openSmtpTransport } from "@latchkey/mail";
import { Command, Option } from "commander";
import { readVariables, type Variables } from "../environment.ts";
import { parseEmail } from "../user-arguments.ts";
import { JSON_OPTION, withExamples } from "./help.ts";

export function mailCommand(variables: Variables): Command {
  const test = withExamples(
    new Command("test"),
    ["bun run admin mail test you@example.com", "bun run admin mail test you@example.com --kind reset"],
    "Connects to MAIL_URL as the service does, and sends a mail from MAIL_FROM.\nWith --kind, it has the text that users get; its link is not valid.",
  )
    .description("send a test mail")
    .argument("<address>", "recipient")
    .addOption(new Option("--kind <kind>", "send this mail of the service").choices(MAIL_KINDS))
    .option(...JSON_OPTION)
    .action(async (text: string, { kind, json = false }: { kind?: MailKind; json?: boolean }) => {
      const to = parseEmail(text);
      const values = readVariables(["MAIL_URL", "MAIL_FROM", ...MAIL_OPTIONS], variables);
      const { MAIL_URL: server, MAIL_FROM: from } = values;
      if (server === null || from === null)
        throw new CliError(`${server ? "MAIL_FROM" : "MAIL_URL"}: is not set`, EXIT.config);
      const publicUrl = values.PUBLIC_URL ?? "http://127.0.0.1:3000";
      const writeMail = createMails({ ...mailOptions(values), publicUrl });
      const mail = kind
        ? writeMail(kind, { token: "test", code: "12345678" })
        : { subject: "Test", text: "This mail server works.\n" };
      const transport = await openSmtpTransport(server, from);
      await transport.send({ from, to, ...mail });
      await write(
        `${json ? toJson({ sent: to }) : `The mail server accepted a mail to ${printable(to)}.`}\n`,
      );
    });
  return new Command("mail").description("test the mail server").addCommand(test);
}
