/** A worker that loads the addon: derives what it is told and answers, or, told nothing, advances for ever. */
import { LANE_WORDS, loadNative } from "../src/kernel/native.ts";
import { digestOf } from "./native-fixture.ts";

declare const self: Worker;

export interface Task {
  readonly path: string;
  readonly kernel: number;
  /** The password; without one the worker never ends by itself. */
  readonly password?: string;
  readonly nice?: number;
}

self.onmessage = ({ data }: MessageEvent<Task>) => {
  const addon = loadNative(data.path);
  const state = new Uint32Array(LANE_WORDS);
  const lanes = Uint32Array.of(0);
  addon.prepare(state, 0, new TextEncoder().encode(data.password ?? ""), new Uint8Array(0));
  if (data.password === undefined) {
    self.postMessage("advancing");
    for (;;) addon.advance(data.kernel, state, lanes, 20_000, data.nice ?? 0);
  }
  addon.advance(data.kernel, state, lanes, 999, data.nice ?? 0);
  self.postMessage(digestOf(state, 0));
};
