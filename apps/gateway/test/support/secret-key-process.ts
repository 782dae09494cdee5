/** A process that reads or creates a signing key: for each path on standard input it prints the key stored there. */
import { createInterface } from "node:readline";
import { readOrCreateSecretKey } from "../../src/config/secret-key.ts";

process.stdout.write("waiting\n");
for await (const path of createInterface(process.stdin)) {
  process.stdout.write(`${readOrCreateSecretKey(path)}\n`);
}
