/** A worker that loads the addon: derives what it is told and answers, or, told nothing, advances for ever. */
import { LANE_WORDS, loadNative } from "../src/kernel/native.ts";
import { advance, digestOf } from "./native-fixture.ts";

declare const self: Worker;

export interface Task {
  readonly path: string;
  readonly kernel: number;
  /** The password; without one the worker never ends by itself. */
  readonly password?: string;
  /** 1 to 19: it advances on a thread that is lowered so far. */
  readonly nice?: number;
}

self.onmessage = ({ data }: MessageEvent<Task>) => {
  const addon = loadNative(data.path);
  const state = new Uint32Array(LANE_WORDS);
  const lanes = Uint32Array.of(0);
  const thread = data.nice === undefined ? null : addon.startThread(data.nice);
  addon.prepare(state, 0, new TextEncoder().encode(data.password ?? ""), new Uint8Array(0));
  if (data.password === undefined) {
    self.postMessage("advancing");
    for (;;) advance(addon, [data.kernel], state, lanes, 20_000, thread);
  }
  advance(addon, [data.kernel], state, lanes, 999, thread);
  self.postMessage(digestOf(state, 0));
};
