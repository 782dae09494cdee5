/** The checkout that the tests belong to. */
import { join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dir, "../../..");

/** The gateway's program, to be started with the running Bun. */
export const GATEWAY_MAIN = join(ROOT, "apps/gateway/src/main.ts");
