/** `secret …`: keys to sign with. */
import { randomBytes } from "node:crypto";
import { Command } from "commander";
import { toJson, write } from "../output.ts";
import { JSON_OPTION, teach } from "./help.ts";

/** As many bytes as the longest digest, so that each algorithm takes the key (RFC 7518 §3.2: HS512 asks for 64). */
const SECRET_BYTES = 64;

export function secretCommand(): Command {
  return new Command("secret")
    .description("make keys for the service to sign tokens with")
    .addCommand(generateCommand());
}

function generateCommand(): Command {
  const command = new Command("generate")
    .description("print a new random AUTH_SECRET_KEY, fit for HS256, HS384 and HS512")
    .option(...JSON_OPTION)
    .action(async ({ json = false }: { json?: boolean }) => {
      const secret = randomBytes(SECRET_BYTES).toString("base64url");
      await write(json ? `${toJson({ secret })}\n` : `${secret}\n`);
    });
  return teach(
    command,
    [
      "bun run admin secret generate",
      "(umask 077 && bun run --silent admin secret generate > auth-secret-key)",
      "AUTH_SECRET_KEY_FILE=auth-secret-key bun run start",
    ],
    "To change the key without logging everybody out, give the old one as\nAUTH_SECRET_KEY_PREVIOUS until its last token has expired.",
  );
}
