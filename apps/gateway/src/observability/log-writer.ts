/**
 * Where log lines go: gathered for one turn of the event loop, then written by one call, which under load costs each line
 * a fraction of a call of its own. Whatever ends the process from within flushes; SIGKILL loses at most one turn's lines.
 */
import { writeSync } from "node:fs";

export interface LogWriter {
  write(line: string): void;
  /** Writes what is gathered. */
  flush(): void;
}

/** How long to wait for a reader of the pipe that has fallen behind, before trying again. */
const BACKPRESSURE_WAIT_MS = 1;

/** Never throws: a log that cannot be written, because its reader is gone or the disk is full, ends no service. */
export function createLogWriter(fileDescriptor: number): LogWriter {
  let gathered = "";
  const flush = (): void => {
    const bytes = Buffer.from(gathered);
    gathered = "";
    writeAll(fileDescriptor, bytes);
  };
  return {
    write(line) {
      if (gathered === "") setImmediate(flush);
      gathered += line;
    },
    flush,
  };
}

function writeAll(fileDescriptor: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(fileDescriptor, bytes, written);
    } catch (error) {
      if (!isBackpressure(error)) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BACKPRESSURE_WAIT_MS);
    }
  }
}

const isBackpressure = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EAGAIN";
