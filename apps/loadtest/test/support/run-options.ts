/** What a test asks for, unless it says otherwise. */
import type { Asked } from "../../src/measure/results.ts";

export const askedOf = (asked: Partial<Asked> & Pick<Asked, "url">): Asked => ({
  scenario: "login",
  load: { kind: "closed", concurrency: 1 },
  durationSeconds: 1,
  users: 1,
  unknownPercent: 0,
  wrongPercent: 0,
  seed: 1,
  ...asked,
});
