/** The exports of this package: password hashing in worker threads. */
export { HasherClosed, HashKernelUnavailable, QueueFull, WorkerCrashed } from "./errors.ts";
export { UnsupportedHash } from "./formats/format.ts";
export { hashFormat, parseImportedHash } from "./formats/formats.ts";
export {
  type CallOptions,
  createHasher,
  type DeriveJob,
  type Hasher,
  type HasherOptions,
  type HasherStats,
} from "./hasher.ts";
export { kernels } from "./kernel/choose-kernel.ts";
export type { HistogramSnapshot } from "./pool/metrics.ts";
export { bindImportedHash, isStoredHash, saltOf } from "./stored-hash.ts";
