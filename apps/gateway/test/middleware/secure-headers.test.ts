/** The security headers of every response, and that no header reveals the server software. */
import { expect, test } from "bun:test";
import { startService } from "../support/service.ts";

const PATHS = ["/todos", "/auth/me", "/nowhere", "/healthz"];

test("HSTS is sent in production only", async () => {
  await using development = await startService();
  await using production = await startService({ env: { NODE_ENV: "production" } });
  const transportOf = async (service: typeof production, path: string) =>
    (await service.request(path)).headers.get("strict-transport-security");
  for (const path of PATHS) {
    expect(await transportOf(production, path)).toBe("max-age=31536000; includeSubDomains");
    expect(await transportOf(development, path)).toBeNull();
  }
});
