/** A process that opens signing keys: for each folder on standard input it prints the key stored there. */
import { createInterface } from "node:readline";
import { openSecretKey } from "../../src/lifecycle/secret-key.ts";

const logger = { warn: (message: string) => process.stderr.write(`${message}\n`) };

process.stdout.write("waiting\n");
for await (const folder of createInterface(process.stdin)) {
  process.stdout.write(`${openSecretKey({ folder, algorithm: "HS512", logger })}\n`);
}
