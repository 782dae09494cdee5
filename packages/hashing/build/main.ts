/**
 * `bun run build:native [--strict] [--directory DIR]`: builds the native addon unless it exists. If the build fails,
 * the service uses the portable kernel and the exit code is 0. With `--strict`, the exit code of a failed build is 1.
 */
import { parseArgs } from "node:util";
import { BUILD_DIRECTORY } from "../src/kernel/addon-file.ts";
import { buildNative } from "./build-native.ts";

const { values } = parseArgs({
  options: { strict: { type: "boolean" }, directory: { type: "string", default: BUILD_DIRECTORY } },
});
const result = await buildNative({ environment: process.env, directory: values.directory });

if (result.status === "built") process.stdout.write(`native kernels: built ${result.path}\n`);
if (result.status === "failed") {
  process.stderr.write(
    `native kernels: not built, the portable kernel will be used: ${result.reason}\n${result.output}`,
  );
  process.exitCode = values.strict ? 1 : 0;
}
