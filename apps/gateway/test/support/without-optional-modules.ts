/**
 * The service without the modules of features that are off by default: to import one of them ends the process. Only `feature.ts`, which
 * decides whether a feature is on, is imported always.
 */
import { plugin } from "bun";

plugin({
  name: "without-optional-modules",
  setup: ({ onLoad }) => {
    const modules = [
      "gateway/src/.*administration",
      "packages/administration/",
      "gateway/src/features/(passkeys|identities|email-login|second-factor|hosted-login)/(?!feature.ts)",
      "openid-client/",
      "oauth4webapi/",
      "@simplewebauthn/",
    ];
    onLoad({ filter: new RegExp(`/(${modules.join("|")})`) }, ({ path }) => {
      process.stderr.write(`${path} is loaded\n`);
      process.exit(3);
    });
  },
});
await import("../../src/main.ts");
