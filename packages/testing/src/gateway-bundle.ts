/**
 * The gateway in one file, which the default run starts where a test is about a running service: to import the sources takes more
 * than half of the CPU seconds of a start. Tests about the start itself name `GATEWAY_MAIN`, and the full run never bundles.
 */
import { dirname, join } from "node:path";
import type { BunPlugin } from "bun";
import { GATEWAY_MAIN } from "./repository.ts";

/** The variable with the path of the bundle. Each run builds its own, so that it is never older than the sources. */
const VARIABLE = "LATCHKEY_TEST_GATEWAY";

/** What `startProcess` starts by default. */
export const gatewayProgram = (): string => process.env[VARIABLE] ?? GATEWAY_MAIN;

/** The code finds files beside its source, also in the bundle; native modules stay where they are. */

const keepLocations: BunPlugin = {
  name: "keep-locations",
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^(libsql|@libsql\/.+)$/ }, ({ path, importer }) => ({
      path: Bun.resolveSync(path, dirname(importer)),
      external: true,
    }));
    onLoad({ filter: /\/src\/.+\.ts$/ }, async ({ path }) => {
      const folder = JSON.stringify(dirname(path));
      const source = await Bun.file(path).text();
      const contents = source
        .replaceAll(
          "import.meta.resolve(",
          `((name) => Bun.pathToFileURL(Bun.resolveSync(name, ${folder})).href)(`,
        )
        .replaceAll(/\bimport\.meta\.dir(name)?\b/g, folder)
        .replaceAll("import.meta.url", JSON.stringify(Bun.pathToFileURL(path).href));
      return { contents, loader: "ts" };
    });
  },
};

/** Builds the bundle in a folder. Returns the variables with which tests start it. */
export async function bundleGateway(folder: string): Promise<Readonly<Record<string, string>>> {
  const naming = "gateway.js";
  await Bun.build({
    entrypoints: [GATEWAY_MAIN],
    outdir: folder,
    naming,
    target: "bun",
    minify: { whitespace: true, syntax: true },
    plugins: [keepLocations],
  });
  return { [VARIABLE]: join(folder, naming) };
}
