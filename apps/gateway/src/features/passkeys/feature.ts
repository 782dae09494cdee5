/** Everything of passkeys, imported only when they are on: validators and the library take time and memory at the start. */
import type { Config } from "../../config.ts";

export type PasskeyFeature = Awaited<ReturnType<typeof importPasskeys>>;

export async function importPasskeys(config: NonNullable<Config["passkeys"]>) {
  const { importWebauthn } = await import("./webauthn.ts");
  const { createPasskeyService } = await import("./service.ts");
  const { passkeyRoutes } = await import("./routes.ts");
  return { webauthn: await importWebauthn(config), createPasskeyService, passkeyRoutes };
}
