/** The native kernels that run on this machine. */
import { kernels } from "../../src/index.ts";

export const nativeKernelNames = kernels()
  .map(({ name }) => name)
  .filter((name) => name !== "portable");
