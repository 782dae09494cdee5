/** Chooses the kernel: all that run on this machine together, or the one family that was asked for by name. */
import { HashKernelUnavailable } from "../errors.ts";
import type { KernelChoice } from "./kernel.ts";
import { type NativeKernel, type NativeStatus, nativeKernels, type Unavailable } from "./native.ts";
import { BUILD_DIRECTORY } from "./native-file.ts";

const PORTABLE = "portable";

export interface KernelSelection {
  /** The family that serves as long as no worker has measured which one is fastest. */
  readonly name: string;
  /** Lanes of one worker. */
  readonly lanes: number;
  /**
   * Why the portable kernel serves although it was not asked for, or which kernels failed their trial although this
   * processor has what they need; null if all that was asked for and should run here serves.
   */
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
 * @param directory where the addon was built.
 * @throws HashKernelUnavailable if the name is unknown or cannot run here.
 */
export function selectKernel(name: string, directory: string = BUILD_DIRECTORY): KernelSelection {
  if (name === PORTABLE) return portable(null);
  const status = nativeKernels(directory);
  const isAsked = ({ family }: { readonly family: string }) => name === "auto" || family === name;
  const variants = status.available ? status.kernels.filter(isAsked) : [];
  if (status.available && variants.length > 0) {
    const failed = status.unavailable.filter((entry) => isAsked(entry) && entry.because === "failed");
    return native(status.path, variants, failed);
  }
  if (name !== "auto") throw new HashKernelUnavailable(name, reasonFor(name, status));
  return portable(status.available ? describe(status.unavailable) : status.reason);
}

function portable(fallbackReason: string | null): KernelSelection {
  return { name: PORTABLE, lanes: 1, fallbackReason, choice: { kind: "portable" } };
}

function native(
  path: string,
  variants: readonly NativeKernel[],
  failed: readonly Unavailable[],
): KernelSelection {
  const widest = variants.reduce((widest, variant) => (variant.width > widest.width ? variant : widest));
  const choice = { kind: "native", path, variants } as const;
  const fallbackReason = failed.length > 0 ? describe(failed) : null;
  return { name: widest.family, lanes: widest.width, fallbackReason, choice };
}

function describe(unavailable: readonly Unavailable[]): string {
  return unavailable.map(({ family, reason }) => `${family}: ${reason}`).join("; ");
}

function reasonFor(name: string, status: NativeStatus): string {
  if (!status.available) return status.reason;
  return status.unavailable.find(({ family }) => family === name)?.reason ?? "there is no such kernel";
}
