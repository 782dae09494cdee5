/**
 * `bun run build:native [--strict] [--directory DIR]`: builds the addon if it is not there yet. Exits 0 when it cannot
 * be built, as the portable kernel then serves; with `--strict` that is exit code 1.
 */
import { parseArgs } from "node:util";
import { buildNative } from "./native.ts";

const { values } = parseArgs({ options: { strict: { type: "boolean" }, directory: { type: "string" } } });
const directory = values.directory === undefined ? {} : { directory: values.directory };
const result = await buildNative({ environment: process.env, ...directory });

if (result.built === "now") process.stdout.write(`native kernels: built ${result.path}\n`);
if (result.built === "not") {
  process.stderr.write(
    `native kernels: not built, the portable kernel will serve: ${result.reason}\n${result.output}`,
  );
  process.exitCode = values.strict ? 1 : 0;
}
