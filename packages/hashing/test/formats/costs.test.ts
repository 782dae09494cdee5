/** The estimated costs of verifications, compared with those that `bun run bench imported-users` measured. */
import { expect, test } from "bun:test";
import HASH_COSTS from "@latchkey/testing/hash-costs";
import { parseImportedHash } from "../../src/index.ts";
import { STORED_ITERATIONS } from "../../src/stored-hash.ts";

const { processor, derivationMs, milliseconds } = HASH_COSTS;

test.each(Object.entries(milliseconds))(
  `%s: the estimate is within a factor of two of %d ms on an ${processor}`,
  (hash, measuredMs) => {
    const estimatedMs = (parseImportedHash(hash).iterations / STORED_ITERATIONS) * derivationMs;
    expect(estimatedMs / measuredMs).toBeWithin(0.5, 2);
  },
);
