/**
 * The service without the modules of features that are off by default: to import one of them ends the process. Only `feature.ts`, which
 * opens a feature that is on, is imported always.
 */
import { dirname, join } from "node:path";
import { Glob, plugin } from "bun";

const features = [...new Glob("*/feature.ts").scanSync(join(import.meta.dir, "../../src/features"))].map(
  dirname,
);

plugin({
  name: "without-optional-modules",
  setup: ({ onLoad }) => {
    const modules = [
      "gateway/src/.*administration",
      "packages/administration/",
      `gateway/src/features/(${features.join("|")})/(?!feature.ts)`,
      "openid-client/",
      "oauth4webapi/",
      "@simplewebauthn/",
      // Only the thread of the mails imports it.
      "nodemailer/",
    ];
    onLoad({ filter: new RegExp(`/(${modules.join("|")})`) }, ({ path }) => {
      process.stderr.write(`${path} is loaded\n`);
      process.exit(3);
    });
  },
});
await import("../../src/main.ts");
