/** Makes, inside a worker, the kernel that the main thread has chosen. */

import type { WorkerSetup } from "../protocol.ts";
import { BatchKernel } from "./batch.ts";
import type { Kernel } from "./kernel.ts";
import { loadNative } from "./native.ts";
import { PortableKernel } from "./portable.ts";

export function createKernel({ kernel: choice, nice }: WorkerSetup): Kernel {
  if (choice.kind === "portable") return new PortableKernel();
  return new BatchKernel({ addon: loadNative(choice.path), variants: choice.variants, nice });
}
