/**
 * A child process that runs the known-answer test of each kernel variant in an addon. It writes lines of JSON: first the
 * list of variants, then one line per variant. This line is null if the variant passed, otherwise it states why the variant
 * cannot be used. The number of lines shows which variant crashed.
 *
 * Arguments: the addon's path, then the id of the first variant to test.
 */
import { pbkdf2Sync } from "node:crypto";
import { writeSync } from "node:fs";
import { type KernelVariant, LANE_T, LANE_WORDS, type ListedVariant, loadAddon } from "./addon.ts";

const FURTHER_ITERATIONS = 7;

/** Password and salt differ in each lane. */
const password = (lane: number) => Buffer.from("passwd".padEnd(6 + 5 * lane, "+"));
const salt = (lane: number) => Buffer.from("salt".padEnd(4 + lane, "-"));

const [path = "", firstId] = process.argv.slice(2);
const addon = loadAddon(path);

write(addon.kernels);
for (const variant of addon.kernels.slice(Number(firstId))) write(variant.missing ?? findError(variant));

function findError({ id, width }: KernelVariant): string | null {
  const state = new Uint32Array(width * LANE_WORDS);
  const lanes = Uint32Array.from({ length: width }, (_, lane) => lane);
  for (const lane of lanes) addon.prepareLane(state, lane, password(lane), salt(lane));
  addon.advance(id, state, lanes, FURTHER_ITERATIONS);
  const wrong = lanes.find((lane) => !isCorrect(state, lane));
  return wrong === undefined ? null : `returned a wrong digest in lane ${wrong}`;
}

function isCorrect(state: Uint32Array, lane: number): boolean {
  const expected = pbkdf2Sync(password(lane), salt(lane), 1 + FURTHER_ITERATIONS, 32, "sha256");
  const words = state.subarray(lane * LANE_WORDS + LANE_T, (lane + 1) * LANE_WORDS);
  return words.every((word, index) => word === expected.readUInt32BE(4 * index));
}

/** Writes synchronously, because buffered output would be lost in a crash. */
function write(line: readonly ListedVariant[] | string | null): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
