/** Every kernel that can run here passes the one suite; a kernel that cannot is refused by name. */
import { describe, expect, test } from "bun:test";
import { createHasher, HashKernelUnavailable, kernels } from "../src/index.ts";
import { PortableKernel } from "../src/kernel/portable.ts";
import { kernelConformance } from "./kernel-conformance.ts";

for (const { name } of kernels()) kernelConformance(name);
kernelConformance("auto");

describe("choosing a kernel", () => {
  test("the portable kernel is always there", () => {
    expect(kernels()).toContainEqual({ name: "portable" });
  });

  test("the kernel asked for is the kernel that serves", async () => {
    for (const { name } of kernels()) {
      await using hasher = createHasher({ kernel: name, workers: 1 });
      expect(hasher.stats()).toMatchObject({ kernel: name, fallbackReason: null });
    }
  });

  test.each(["", "AUTO", "portable ", "toString"])(
    "the unknown name %p is an error that names it",
    (kernel) => {
      expect(() => createHasher({ kernel })).toThrow(HashKernelUnavailable);
      expect(() => createHasher({ kernel })).toThrow(`"${kernel}"`);
    },
  );

  test("a derivation on the main thread throws", () => {
    expect(() => new PortableKernel()).toThrow("main thread");
  });
});
