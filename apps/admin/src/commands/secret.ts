/** `secret …`: the keys that sign tokens. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { printable, toJson, unavailable, usageError, write } from "@latchkey/cli";
import type { AuthAlgorithm, KeyPairAlgorithm } from "@latchkey/config";
import { Command, Option } from "commander";
import { calculateJwkThumbprint, exportJWK, exportPKCS8, exportSPKI, generateKeyPair } from "jose";
import { JSON_OPTION, withExamples } from "./help.ts";

/** The length of the longest digest, sufficient for every algorithm (RFC 7518 §3.2: HS512 requires 64 bytes). */
const SECRET_BYTES = 64;
const ALGORITHMS: readonly AuthAlgorithm[] = ["HS256", "HS384", "HS512", "ES256", "EdDSA"];

type Options = Readonly<{ algorithm: AuthAlgorithm; output?: string; json?: boolean }>;

export function secretCommand(): Command {
  const generate = withExamples(
    new Command("generate"),
    [
      "bun run admin secret generate",
      "(umask 077 && bun run --silent admin secret generate > auth-secret-key)",
      "AUTH_SECRET_KEY_FILE=auth-secret-key bun run start",
      "bun run admin secret generate --algorithm EdDSA",
      "bun run admin secret generate --algorithm EdDSA --output /run/secrets/auth",
    ],
    "ES256 and EdDSA print lines for .env, or write the files AUTH-private.pem (mode\n0600) and AUTH-public.pem for --output AUTH.",
    "To replace a key without logging users out, follow docs/keys.md.",
  )
    .description("print a new random AUTH_SECRET_KEY, or a new AUTH_PRIVATE_KEY for ES256 or EdDSA")
    .addOption(
      new Option("--algorithm <name>", "algorithm of the tokens").choices(ALGORITHMS).default("HS256"),
    )
    .option("--output <prefix>", "write a key pair to two new files in place of printing it")
    .option(...JSON_OPTION)
    .action(async ({ algorithm, output, json = false }: Options) => {
      if (algorithm === "ES256" || algorithm === "EdDSA") {
        const pair = await createKeyPair(algorithm, output);
        return write(json ? `${toJson(pair)}\n` : describeKeyPair(pair));
      }
      if (output !== undefined) throw usageError("--output requires --algorithm ES256 or EdDSA.");
      const secret = randomBytes(SECRET_BYTES).toString("base64url");
      return write(`${json ? toJson({ secret }) : secret}\n`);
    });
  return new Command("secret").description("generate token signing keys").addCommand(generate);
}

/** If `prefix` is given, writes the keys to two new files. Existing files are never replaced: one can be the only copy of a key. */
async function createKeyPair(algorithm: KeyPairAlgorithm, prefix?: string) {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const key = { algorithm, kid: await calculateJwkThumbprint(await exportJWK(publicKey)) };
  const pems = { private_key: await exportPKCS8(privateKey), public_key: await exportSPKI(publicKey) };
  if (prefix === undefined) return { ...key, ...pems };
  const path = resolve(prefix);
  const files = { private_key_file: `${path}-private.pem`, public_key_file: `${path}-public.pem` };
  await create(files.public_key_file, pems.public_key, 0o644);
  await create(files.private_key_file, pems.private_key, 0o600);
  return { ...key, ...files };
}

const create = (path: string, content: string, mode: number): Promise<void> =>
  writeFile(path, `${content.trimEnd()}\n`, { mode, flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
    throw unavailable(`Cannot create ${printable(path)} (${error.code}).`);
  });

/** The lines with the public key are comments: a service rejects its own public key as the next or the previous key. */
function describeKeyPair(pair: Awaited<ReturnType<typeof createKeyPair>>): string {
  const [suffix, privateKey, publicKey] =
    "private_key" in pair
      ? ["", quote(pair.private_key), quote(pair.public_key)]
      : ["_FILE", printable(pair.private_key_file), printable(pair.public_key_file)];
  return `# kid: ${pair.kid}
AUTH_ALGORITHM=${pair.algorithm}
AUTH_PRIVATE_KEY${suffix}=${privateKey}
# On replicas that sign with another key, before this key signs:
# AUTH_NEXT_PUBLIC_KEY${suffix}=${publicKey}
# After another key has replaced it:
# AUTH_PREVIOUS_PUBLIC_KEY${suffix}=${publicKey}
`;
}

/** A PEM as one line of an environment file. */
const quote = (pem: string): string => `"${pem.trimEnd().replaceAll("\n", "\\n")}"`;
