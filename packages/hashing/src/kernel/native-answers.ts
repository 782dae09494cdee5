/**
 * Run as a child process: tries each kernel of an addon against answers known from elsewhere, and writes a line before
 * and after each, so that the parent knows which kernel it was if this process dies.
 *
 * Arguments: the addon's path, then the ids of kernels that need no trial.
 */
import { pbkdf2Sync } from "node:crypto";
import { writeSync } from "node:fs";
import { createRequire } from "node:module";
import { type ChildLine, LANE_WORDS, type NativeAddon, type NativeKernel } from "./native.ts";

interface Addon extends NativeAddon {
  readonly kernels: readonly (NativeKernel & { readonly missing: string | null })[];
}

/** PBKDF2-HMAC-SHA256 of "passwd" and "salt", one iteration, first 32 bytes (RFC 7914, section 11). */
const PUBLISHED = "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc";

const FURTHER_ITERATIONS = 7;

const [path = "", ...done] = process.argv.slice(2);
const addon: Addon = createRequire(import.meta.url)(path);

write({ kernels: addon.kernels });
for (const kernel of addon.kernels) {
  if (kernel.missing !== null || done.includes(String(kernel.id))) continue;
  write({ started: kernel.id });
  write({ finished: kernel.id, error: trial(kernel) });
}

function trial(kernel: NativeKernel): string | null {
  const state = new Uint32Array(kernel.width * LANE_WORDS);
  const lanes = Uint32Array.from({ length: kernel.width }, (_, lane) => lane);
  for (const lane of lanes) addon.prepare(state, lane, password(lane), salt(lane));
  if (digest(state, 0) !== PUBLISHED) return "missed the published first iteration";
  addon.advance(Uint32Array.of(kernel.id), state, lanes, FURTHER_ITERATIONS, null, new Float64Array(1));
  for (const lane of lanes) {
    const expected = pbkdf2Sync(password(lane), salt(lane), 1 + FURTHER_ITERATIONS, 32, "sha256").toString(
      "hex",
    );
    if (digest(state, lane) !== expected) return `gave a wrong digest in lane ${lane}`;
  }
  return null;
}

/** Lane 0 is the published vector; the others differ from it and from each other. */
function password(lane: number): Uint8Array {
  return Buffer.from("passwd".padEnd(6 + 5 * lane, "+"));
}

function salt(lane: number): Uint8Array {
  return Buffer.from("salt".padEnd(4 + lane, "-"));
}

function digest(state: Uint32Array, lane: number): string {
  const words = state.subarray(lane * LANE_WORDS + 24, (lane + 1) * LANE_WORDS);
  return Array.from(words, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** At once and whole: a buffered line would be lost with the process. */
function write(line: ChildLine): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
