/**
 * A child process that runs the known-answer test of each kernel variant in an addon. It writes one line of JSON with the
 * list of variants, then one line per test, so that the parent knows which variant crashed the process.
 *
 * Arguments: the addon's path, then the ids of the variants that are already tested.
 */
import { pbkdf2Sync } from "node:crypto";
import { writeSync } from "node:fs";
import { type KernelVariant, LANE_T, LANE_WORDS, type ListedVariant, loadAddon } from "./addon.ts";

/** `error` is null if the variant passed. */
export interface KnownAnswerResult {
  readonly id: number;
  readonly error: string | null;
}

/** PBKDF2-HMAC-SHA256 of "passwd" and "salt", one iteration, first 32 bytes (RFC 7914, section 11). */
const PUBLISHED = "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc";

const FURTHER_ITERATIONS = 7;

/** Lane 0 has the published input; the others differ from it and from each other. */
const password = (lane: number) => Buffer.from("passwd".padEnd(6 + 5 * lane, "+"));
const salt = (lane: number) => Buffer.from("salt".padEnd(4 + lane, "-"));

const [path = "", ...tested] = process.argv.slice(2);
const addon = loadAddon(path);

write(addon.kernels);
for (const variant of addon.kernels) {
  if (variant.missing !== null || tested.includes(String(variant.id))) continue;
  write({ id: variant.id, error: findError(variant) });
}

function findError({ id, width }: KernelVariant): string | null {
  const state = new Uint32Array(width * LANE_WORDS);
  const lanes = Uint32Array.from({ length: width }, (_, lane) => lane);
  for (const lane of lanes) addon.prepareLane(state, lane, password(lane), salt(lane));
  if (digest(state, 0) !== PUBLISHED) return "returned a wrong first iteration";
  addon.advance(id, state, lanes, FURTHER_ITERATIONS, null);
  const wrong = lanes.find((lane) => digest(state, lane) !== expectedDigest(lane));
  return wrong === undefined ? null : `returned a wrong digest in lane ${wrong}`;
}

function expectedDigest(lane: number): string {
  return pbkdf2Sync(password(lane), salt(lane), 1 + FURTHER_ITERATIONS, 32, "sha256").toString("hex");
}

function digest(state: Uint32Array, lane: number): string {
  const words = state.subarray(lane * LANE_WORDS + LANE_T, (lane + 1) * LANE_WORDS);
  return Array.from(words, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** Synchronous, because buffered output would be lost in a crash. */
function write(line: readonly ListedVariant[] | KnownAnswerResult): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
