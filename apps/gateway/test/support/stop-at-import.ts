/** Preloaded into a service under test: its imports stop at `app.ts`, after a line with the message "importing". */
import { plugin } from "bun";

plugin({
  name: "stop-at-import",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/gateway\/src\/app\.ts$/ }, () => {
      process.stdout.write(`${JSON.stringify({ msg: "importing" })}\n`);
      return new Promise(() => {});
    });
  },
});
