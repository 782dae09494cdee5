/** Another process that wants signing keys: for each path on its standard input it writes the key that is kept there. */
import { createInterface } from "node:readline";
import { readOrCreateSecretKey } from "../../src/config/secret-key.ts";

process.stdout.write("waiting\n");
for await (const path of createInterface(process.stdin)) {
  process.stdout.write(`${readOrCreateSecretKey(path)}\n`);
}
