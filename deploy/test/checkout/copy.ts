/** Copies this checkout without what git ignores, to a temporary folder. */
import { cp, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";

const GENERATED = new Set(["node_modules", ".git", ".turbo", "data", "dist", ".env"]);
const isSource = (path: string): boolean =>
  !GENERATED.has(basename(path)) && !path.endsWith(join("native", "build")) && !path.endsWith(".tgz");

/** Returns the folder, which the caller removes. */
export async function copyCheckout(): Promise<string> {
  const checkout = await mkdtemp(join(tmpdir(), "latchkey-checkout-"));
  await cp(ROOT, checkout, { recursive: true, filter: isSource });
  return checkout;
}
