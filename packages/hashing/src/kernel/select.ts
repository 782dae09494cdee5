/** Chooses the kernel: the fastest that runs on this machine, or the one asked for by name. */
import { HashKernelUnavailable } from "../errors.ts";
import type { KernelChoice } from "./kernel.ts";

export interface KernelSelection {
  readonly name: string;
  /** Lanes of one worker. */
  readonly lanes: number;
  /** Why a slower kernel serves than was hoped for; null if none does. */
  readonly fallbackReason: string | null;
  readonly choice: KernelChoice;
}

/** The kernels that can run here, by the name that `createHasher({ kernel })` takes. */
export function kernels(): readonly { readonly name: string }[] {
  return [{ name: "portable" }];
}

/**
 * @param name "auto" or one of `kernels()`.
 * @throws HashKernelUnavailable if the name is unknown or cannot run here.
 */
export function selectKernel(name: string): KernelSelection {
  if (name !== "auto" && name !== "portable")
    throw new HashKernelUnavailable(name, "there is no such kernel");
  return { name: "portable", lanes: 1, fallbackReason: null, choice: { kind: "portable" } };
}
