/** The structured logger: JSON lines for machines, readable ones for a terminal. Never given a password, hash or token. */
import pino from "pino";
import pretty from "pino-pretty";

export type Logger = pino.Logger;

export interface LoggerOptions {
  readonly level: string;
  readonly format: "json" | "pretty";
}

/** Levels by name and time as RFC 3339; written synchronously, so that a crash loses no line. */
export function createLogger({ level, format }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    format === "pretty"
      ? pretty({ sync: true, translateTime: "SYS:HH:MM:ss.l" })
      : pino.destination({ dest: 1, sync: true }),
  );
}
