/** A system clock for other programs that a test sets, with libfaketime. Monotonic clocks are not affected. */
import { test } from "bun:test";
import { globSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [library] = globSync("/usr/lib/*/faketime/libfaketimeMT.so.1");
if (!library) process.stderr.write("Tests of the system clock are skipped: faketime is not installed.\n");

/** A `test` that is skipped if faketime is not installed; in CI it fails instead. */
export const faketimeTest = test.skipIf(!library && !process.env.CI);

/** @param folder for the file that contains the offset of the clock */
export function createSystemClock(folder: string) {
  const file = join(folder, "clock");
  /** @param offset such as `-30h` */
  const set = (offset: string): void => writeFileSync(file, offset);
  set("+0s");
  return {
    set,
    /** For the programs that use this clock. */
    env: {
      LD_PRELOAD: library ?? "",
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      DONT_FAKE_MONOTONIC: "1",
    },
  };
}
