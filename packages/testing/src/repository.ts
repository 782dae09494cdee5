/** Paths in this repository. */
import { join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dir, "../../..");

/** The gateway's entry point. */
export const GATEWAY_MAIN = join(ROOT, "apps/gateway/src/main.ts");
