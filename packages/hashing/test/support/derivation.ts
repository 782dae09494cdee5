/** Derivations for tests, and their results. */
import { pbkdf2Sync } from "node:crypto";
import type { DeriveJob } from "../../src/index.ts";
import type { JobInput } from "../../src/pool/job.ts";

export const createJob = (iterations: number, signal?: AbortSignal): DeriveJob => ({
  password: new Uint8Array(8),
  salt: new Uint8Array(8),
  iterations,
  signal,
});

/** The digest of an independent implementation. */
export const referenceDigest = ({ password, salt, iterations }: JobInput): string =>
  pbkdf2Sync(password, salt, iterations, 32, "sha256").toString("hex");

export const hex = (digest: Uint8Array): string => Buffer.from(digest).toString("hex");
