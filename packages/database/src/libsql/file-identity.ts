/** Detects that the path of the open file leads to another file, or to none. Writes to the open file would be lost. */
import { statSync } from "node:fs";
import { DatabaseUnavailable } from "../errors.ts";

/** How long reads use the result of an earlier check. */
const MAX_AGE_MS = 1000;

/** The number of an open file is not assigned to another file, even if the open file is deleted. */
function identify(path: string): string {
  const file = statSync(path, { throwIfNoEntry: false });
  return `${file?.dev}:${file?.ino}`;
}

export function watchFile(path: string) {
  const opened = identify(path);
  let checkedAt = performance.now();

  const check = (): void => {
    if (identify(path) !== opened)
      throw new DatabaseUnavailable("FILE_REPLACED", "the file was deleted or replaced while it was open");
    checkedAt = performance.now();
  };

  return {
    /** @throws DatabaseUnavailable */
    check,
    /** Does nothing if the file was checked within the last second. @throws DatabaseUnavailable */
    checkRecently: (): void => {
      if (performance.now() - checkedAt > MAX_AGE_MS) check();
    },
  };
}
