/** Preloaded into a service under test: its imports stop at `app.ts`, after a line with the message "importing". */
import { plugin } from "bun";

plugin({
  name: "stop-at-import",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/gateway\/src\/app\.ts$/ }, () => {
      // In a later turn of the event loop: loading the other modules blocks this one.
      setTimeout(() => process.stdout.write(`${JSON.stringify({ msg: "importing" })}\n`));
      return new Promise(() => {});
    });
  },
});
