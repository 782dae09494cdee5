/**
 * Prints the OpenAPI document of the service without starting the service: `bun run openapi > openapi.json`. With `--all`, the
 * document also describes the features that are off by default. With `--administration`, prints the document of the administration,
 * as it is while account events are recorded and with restricted keys.
 */
import { exitOnOutputError, write } from "@latchkey/cli";
import { PASSWORD_MIN_LENGTH, SHIPPED_LANGUAGES } from "@latchkey/contracts";
import type { Database } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import pino from "pino";
import { createApp } from "./app.ts";
import { parseConfig } from "./config.ts";
import { administrationOperations } from "./features/administration/operations.ts";
import { eventOperations } from "./features/events/operations.ts";
import { EVERYTHING } from "./features/optional-features.ts";
import { createAdministrationDocument } from "./openapi/administration-document.ts";
import { importTokenKeys } from "./tokens/token-keys.ts";

/** The cast is safe because creating the document calls no service. */
const uncalled = <Service>(): Service => ({}) as Service;

async function printPublic(isComplete: boolean): Promise<string> {
  const secretKey = "The document contains no key: 0123456789";
  const config = parseConfig(
    { AUTH_SECRET_KEY: secretKey, RATE_LIMIT_ENABLED: "false", ...(isComplete && EVERYTHING) },
    { kernels: [], isTerminal: false, readFile: uncalled() },
  );
  const app = await createApp({
    config,
    keys: await importTokenKeys(config.tokenKeys, () => secretKey),
    database: uncalled<Database>(),
    hasher: uncalled<Hasher>(),
    logger: pino({ level: "silent" }),
    factorCipher: uncalled(),
    digestEmail: uncalled(),
    isStopping: () => false,
  });
  const response = await app.handle(new Request("http://localhost/openapi.json"));
  return response.text();
}

const printAdministration = (): Promise<string> =>
  createAdministrationDocument(
    [
      ...administrationOperations({
        service: uncalled(),
        passwordMinLength: PASSWORD_MIN_LENGTH,
        isListedPassword: () => false,
        sendsMail: true,
        // The typed client knows no configuration.
        languages: SHIPPED_LANGUAGES,
      }),
      ...eventOperations(uncalled()),
    ],
    new Set(["mail", "accountEvents", "restrictedKeys"]),
  );

exitOnOutputError();
await write(
  process.argv.includes("--administration")
    ? await printAdministration()
    : await printPublic(process.argv.includes("--all")),
);
