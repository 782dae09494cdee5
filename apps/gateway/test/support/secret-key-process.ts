/** Another process that opens signing keys: for each folder on its standard input it writes the key that is stored there. */
import { createInterface } from "node:readline";
import { openSecretKey } from "../../src/lifecycle/secret-key.ts";

const logger = { warn: (message: string) => process.stderr.write(`${message}\n`) };

process.stdout.write("waiting\n");
for await (const folder of createInterface(process.stdin)) {
  process.stdout.write(`${openSecretKey({ folder, algorithm: "HS512", logger })}\n`);
}
