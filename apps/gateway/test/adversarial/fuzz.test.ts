/** Thousands of hostile requests against the whole service. */
import { expect, test } from "bun:test";
import { startService } from "../support/service.ts";
import { runFuzz } from "./fuzz/run.ts";
import { SECRET } from "./fuzz/values.ts";

const REQUESTS = 5_000;
/** Any number works; a fixed one makes a failure repeatable. */
const SEED = 20_011;

test("hostile requests of every kind get a response without internals, and the service keeps working", async () => {
  await using service = await startService();

  const statuses = await runFuzz(service, { requests: REQUESTS, seed: SEED });

  // Statuses that never occur are not tested.
  const reached = [200, 201, 204, 400, 401, 404, 405, 409, 413, 422].filter((status) => statuses[status]);
  expect(reached).toEqual([200, 201, 204, 400, 401, 404, 405, 409, 413, 422]);
  expect(JSON.stringify(service.log)).not.toContain(SECRET);
}, 120_000);
