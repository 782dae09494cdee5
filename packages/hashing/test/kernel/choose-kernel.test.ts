/** Every kernel that runs on this machine passes the conformance tests; any other name is an error. */
import { describe, expect, test } from "bun:test";
import { createHasher, HashKernelUnavailable, kernels } from "../../src/index.ts";
import { kernelConformance } from "../support/kernel-conformance.ts";

for (const { name } of kernels()) kernelConformance(name);
kernelConformance("auto");

describe("kernel selection", () => {
  test("always offers the portable kernel", () => {
    expect(kernels()).toContainEqual({ name: "portable" });
  });

  test("uses the requested kernel", async () => {
    for (const { name } of kernels()) {
      await using hasher = createHasher({ kernel: name, workers: 1 });
      expect(hasher.stats()).toMatchObject({ kernel: name, fallbackReason: null });
    }
  });

  test.each(["", "AUTO", "portable ", "toString"])(
    "throws an error with the name for the unknown kernel %p",
    (kernel) => {
      expect(() => createHasher({ kernel })).toThrow(HashKernelUnavailable);
      expect(() => createHasher({ kernel })).toThrow(`"${kernel}"`);
    },
  );

  test("creates a kernel in a worker thread only", () => {
    expect(import("../../src/worker/worker.ts")).rejects.toThrow("worker thread");
  });
});
