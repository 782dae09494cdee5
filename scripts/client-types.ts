/** Writes the types of `packages/client` from the OpenAPI document: `bun run --cwd packages/client generate`. */
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import { ROOT } from "./source-tree.ts";

export const CLIENT_TYPES = join(ROOT, "packages/client/src/schema.ts");

const HEADER = `/** The types of the OpenAPI document. Generated: run \`bun run --cwd packages/client generate\`, do not edit. */\n`;

export const ADMIN_CLIENT_TYPES = join(ROOT, "packages/client/src/admin-schema.ts");

/** Generates the types from the document of all features, or from that of the administration, without a server. */
export async function generateClientTypes(document: "--all" | "--administration"): Promise<string> {
  const { stdout, stderr, success } = Bun.spawnSync(
    [process.execPath, "run", "--silent", "openapi", document],
    {
      cwd: ROOT,
    },
  );
  if (!success) throw new Error(`bun run openapi failed:\n${stderr}`);
  // A member that has a default can be omitted from a request.
  const types = await openapiTS(stdout.toString(), { defaultNonNullable: false });
  return HEADER + astToString(types);
}

if (import.meta.main) {
  await Bun.write(CLIENT_TYPES, await generateClientTypes("--all"));
  await Bun.write(ADMIN_CLIENT_TYPES, await generateClientTypes("--administration"));
}
