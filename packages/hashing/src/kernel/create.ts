/** Makes, inside a worker, the kernel that the main thread has chosen. */
import { BatchKernel } from "./batch.ts";
import type { Kernel, KernelChoice } from "./kernel.ts";
import { loadNative } from "./native.ts";
import { PortableKernel } from "./portable.ts";

export function createKernel(choice: KernelChoice): Kernel {
  if (choice.kind === "portable") return new PortableKernel();
  return new BatchKernel(loadNative(choice.path), choice.variants);
}
