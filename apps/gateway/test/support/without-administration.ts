/** The service without the modules of the administration: to import one of them ends the process. */
import { plugin } from "bun";

plugin({
  name: "without-administration",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/(gateway\/src\/.*administration|packages\/administration)/ }, ({ path }) => {
      process.stderr.write(`${path} is loaded\n`);
      process.exit(3);
    });
  },
});
await import("../../src/main.ts");
