/**
 * The gateway and the admin tool in one file each, which the default run starts where a test is about a running program: to import
 * the sources takes a quarter of the CPU seconds of a start. Tests about the start itself name the sources, and the full run never
 * bundles. Each run builds its own bundles, so that they are never older than the sources.
 */
import { dirname, join } from "node:path";
import type { BunPlugin } from "bun";
import { ADMIN_MAIN, GATEWAY_MAIN } from "./repository.ts";

/** The sources of each program, by the variable with the path of its bundle. */
const SOURCES = { LATCHKEY_TEST_GATEWAY: GATEWAY_MAIN, LATCHKEY_TEST_ADMIN: ADMIN_MAIN } as const;

/** What tests start unless they are about the start itself. */
export const gatewayProgram = (): string => process.env.LATCHKEY_TEST_GATEWAY ?? GATEWAY_MAIN;
export const adminProgram = (): string => process.env.LATCHKEY_TEST_ADMIN ?? ADMIN_MAIN;

/**
 * The code finds files beside its source, also in the bundle. Native modules stay where they are, and so does what passkeys need,
 * whose modules depend on the order in which they are evaluated.
 */
const keepLocations: BunPlugin = {
  name: "keep-locations",
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^(libsql|@libsql\/.+|@simplewebauthn\/.+)$/ }, ({ path, importer }) => ({
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

/** Builds the bundles in a folder. Returns the variables with which tests start them. */
export async function bundlePrograms(folder: string): Promise<Readonly<Record<string, string>>> {
  const variables: Record<string, string> = {};
  for (const [variable, main] of Object.entries(SOURCES)) {
    const naming = `${variable.toLowerCase()}.js`;
    await Bun.build({
      entrypoints: [main],
      outdir: folder,
      naming,
      target: "bun",
      minify: { whitespace: true, syntax: true },
      plugins: [keepLocations],
    });
    variables[variable] = join(folder, naming);
  }
  return variables;
}
