/** `secret …`: signing keys. */
import { randomBytes } from "node:crypto";
import { toJson, write } from "@latchkey/cli";
import { Command } from "commander";
import { JSON_OPTION, withExamples } from "./help.ts";

/** The length of the longest digest, sufficient for every algorithm (RFC 7518 §3.2: HS512 requires 64 bytes). */
const SECRET_BYTES = 64;

export function secretCommand(): Command {
  return new Command("secret").description("generate token signing keys").addCommand(generateCommand());
}

function generateCommand(): Command {
  return withExamples(
    new Command("generate"),
    [
      "bun run admin secret generate",
      "(umask 077 && bun run --silent admin secret generate > auth-secret-key)",
      "AUTH_SECRET_KEY_FILE=auth-secret-key bun run start",
    ],
    "To replace the key without logging users out, set AUTH_SECRET_KEY_PREVIOUS to\nthe old key until its last token has expired.",
  )
    .description("print a new random AUTH_SECRET_KEY for HS256, HS384 or HS512")
    .option(...JSON_OPTION)
    .action(async ({ json = false }: { json?: boolean }) => {
      const secret = randomBytes(SECRET_BYTES).toString("base64url");
      await write(`${json ? toJson({ secret }) : secret}\n`);
    });
}
