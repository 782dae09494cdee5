/**
 * `oidc-provider`, a certified OpenID Connect provider with its own pages, in Node. It is installed from the registry with its own
 * lockfile, so only the full run includes its tests, and for Linux on x64.
 */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { readUntil } from "@latchkey/testing/server-process";

/** A user of the provider. The login form accepts the subject with any password. */
export interface ProviderUser {
  readonly sub: string;
  readonly [claim: string]: unknown;
}

/** Starts the provider for the client `CLIENT` with these pages. */
export async function startCertifiedProvider(redirectUris: readonly string[]) {
  await using resources = new AsyncDisposableStack();
  const { path: cwd } = resources.use(await openFolder());
  for (const name of ["package.json", "bun.lock", "provider.mjs"])
    await cp(join(import.meta.dir, name), join(cwd, name));
  const install = [process.execPath, "install", "--frozen-lockfile", "--ignore-scripts"];
  const { exitCode, stderr } = Bun.spawnSync(install, { cwd });
  if (exitCode !== 0) throw new Error(`The provider cannot be installed: ${stderr}`);
  const provider = Bun.spawn([join(cwd, "node_modules/node/bin/node"), "provider.mjs"], {
    cwd,
    env: { REDIRECT_URIS: JSON.stringify(redirectUris) },
    stdout: "pipe",
    stderr: "ignore",
    killSignal: "SIGKILL",
  });
  resources.use(provider);
  const { issuer }: { issuer: string } = JSON.parse(await readUntil(provider.stdout, "\n"));
  return Object.assign(resources.move(), {
    issuer,
    /** Sets the claims of a user, in place of earlier ones. */
    async setUser({ sub, ...claims }: ProviderUser): Promise<void> {
      await fetch(`${issuer}/${sub}`, { method: "PUT", body: JSON.stringify(claims) });
    },
  });
}
