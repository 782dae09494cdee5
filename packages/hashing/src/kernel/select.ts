/** Chooses the kernel: all that run on this machine together, or the one family that was asked for by name. */
import { HashKernelUnavailable } from "../errors.ts";
import type { KernelChoice } from "./kernel.ts";
import { type NativeKernel, type NativeStatus, nativeKernels } from "./native.ts";

const PORTABLE = "portable";

export interface KernelSelection {
  /** The family that serves as long as no worker has measured which one is fastest. */
  readonly name: string;
  /** Lanes of one worker. */
  readonly lanes: number;
  /** Why the portable kernel serves although it was not asked for; null if it does not. */
  readonly fallbackReason: string | null;
  readonly choice: KernelChoice;
}

/**
 * The kernels that can run here, by the name that `createHasher({ kernel })` takes. The first call in a process tries
 * the native ones in a child process, which takes some ten milliseconds.
 */
export function kernels(): readonly { readonly name: string }[] {
  const status = nativeKernels();
  const families = status.available ? status.kernels.map(({ family }) => family) : [];
  return [...new Set([...families, PORTABLE])].map((name) => ({ name }));
}

/**
 * @param name "auto" or one of `kernels()`.
 * @throws HashKernelUnavailable if the name is unknown or cannot run here.
 */
export function selectKernel(name: string): KernelSelection {
  if (name === PORTABLE) return portable(null);
  const status = nativeKernels();
  if (name !== "auto") {
    const variants = status.available ? status.kernels.filter(({ family }) => family === name) : [];
    if (!status.available || variants.length === 0)
      throw new HashKernelUnavailable(name, reasonFor(name, status));
    return native(status.path, variants);
  }
  if (!status.available) return portable(status.reason);
  if (status.kernels.length > 0) return native(status.path, status.kernels);
  return portable(status.unavailable.map(({ family, reason }) => `${family}: ${reason}`).join("; "));
}

function portable(fallbackReason: string | null): KernelSelection {
  return { name: PORTABLE, lanes: 1, fallbackReason, choice: { kind: "portable" } };
}

function native(path: string, variants: readonly NativeKernel[]): KernelSelection {
  const widest = variants.reduce((widest, variant) => (variant.width > widest.width ? variant : widest));
  const choice = { kind: "native", path, variants } as const;
  return { name: widest.family, lanes: widest.width, fallbackReason: null, choice };
}

function reasonFor(name: string, status: NativeStatus): string {
  if (!status.available) return status.reason;
  return status.unavailable.find(({ family }) => family === name)?.reason ?? "there is no such kernel";
}
