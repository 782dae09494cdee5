/** Chooses the kernel with the given name; for "auto", all native kernels that run on this machine. */
import { HashKernelUnavailable } from "../errors.ts";
import { BUILD_DIRECTORY } from "./addon-file.ts";
import { checkNativeKernels, type UnavailableKernel } from "./check-kernels.ts";
import type { KernelChoice } from "./kernel.ts";

const PORTABLE = "portable";
/** The processors that `native/sources.txt` names. */
const PROCESSORS_WITH_KERNELS: ReadonlySet<string> = new Set(["x64", "arm64"]);

export interface ChosenKernel {
  /** The kernel that is reported until a worker has measured which kernel is fastest. */
  readonly name: string;
  /** The maximum number of lanes of one worker. */
  readonly lanes: number;
  /** Why "auto" chose the portable kernel, or which kernels failed their known-answer test; null if neither applies. */
  readonly fallbackReason: string | null;
  /** Whether "auto" chose the portable kernel although native kernels exist for this processor. */
  readonly isNativeMissing: boolean;
  readonly choice: KernelChoice;
}

/**
 * Returns the kernels that run on this machine, with the names that `createHasher({ kernel })` accepts. The first call in a
 * process tests the native kernels in a child process, which takes about 30 ms.
 */
export function kernels(): readonly { readonly name: string }[] {
  const families = checkNativeKernels().variants.map(({ family }) => family);
  return [...new Set([...families, PORTABLE])].map((name) => ({ name }));
}

/**
 * @param name "auto" or one of `kernels()`.
 * @param directory the folder of the addon.
 * @throws HashKernelUnavailable if the kernel does not exist or cannot run on this machine.
 */
export function chooseKernel(name: string, directory: string = BUILD_DIRECTORY): ChosenKernel {
  if (name === PORTABLE) return choosePortable(null);
  const status = checkNativeKernels(directory);
  const isRequested = ({ family }: { readonly family: string }) => name === "auto" || family === name;
  const variants = status.variants.filter(isRequested);
  const unavailable = status.unavailable.filter(isRequested);
  const [widest] = variants.toSorted((a, b) => b.width - a.width);
  if (widest) {
    const failed = unavailable.filter((kernel) => kernel.status === "failed");
    return {
      name: widest.family,
      lanes: widest.width,
      fallbackReason: failed.length > 0 ? describe(failed) : null,
      isNativeMissing: false,
      choice: { kind: "native", path: status.path, variants },
    };
  }
  if (name === "auto") {
    const isMissing = status.reason !== null || unavailable.some((kernel) => kernel.status === "failed");
    const isNativeMissing = isMissing && PROCESSORS_WITH_KERNELS.has(process.arch);
    return { ...choosePortable(status.reason ?? describe(unavailable)), isNativeMissing };
  }
  const reason = status.reason ?? unavailable[0]?.reason ?? `not a kernel for ${process.arch}`;
  throw new HashKernelUnavailable(name, reason);
}

function choosePortable(fallbackReason: string | null): ChosenKernel {
  return { name: PORTABLE, lanes: 1, fallbackReason, isNativeMissing: false, choice: { kind: "portable" } };
}

function describe(unavailable: readonly UnavailableKernel[]): string {
  return unavailable.map(({ family, reason }) => `${family}: ${reason}`).join("; ");
}
