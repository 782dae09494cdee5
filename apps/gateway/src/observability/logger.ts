/** The structured logger: JSON lines for machines, readable ones for a terminal. Never given a password, hash or token. */
import { ERROR_CODES } from "@latchkey/contracts";
import pino from "pino";
import pretty from "pino-pretty";
import { createLogWriter } from "./log-writer.ts";

export type Logger = pino.Logger;

export interface LoggerOptions {
  readonly level: string;
  readonly format: "json" | "pretty";
}

/** Errors that the service answers with on purpose: their code says it all, and under overload they come by the thousand. */
const EXPECTED_CODES = new Set<unknown>(ERROR_CODES);
/** How deep causes are followed. */
const MAX_CAUSES = 4;

/** Of an error nothing but these members is written: drivers keep statements and their parameters in others. */
function loggedError(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { type: typeof error, message: messageOf(error) };
  const code = "code" in error ? error.code : undefined;
  return {
    type: error.name,
    ...(code !== undefined && { code }),
    message: error.message,
    ...(!EXPECTED_CODES.has(code) && { stack: error.stack }),
    ...(error.cause !== undefined && depth < MAX_CAUSES && { cause: loggedError(error.cause, depth + 1) }),
  };
}

/** For what was thrown and is no error. */
const messageOf = (thrown: unknown): string =>
  String(typeof thrown === "object" && thrown !== null && "message" in thrown ? thrown.message : thrown);

/** How members of a line are written, by their names. */
export const LOG_SERIALIZERS = { err: (error: unknown) => loggedError(error) };

/** Levels by name and time as RFC 3339. */
export function createLogger({ level, format }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: null,
      serializers: LOG_SERIALIZERS,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    format === "pretty" ? pretty({ sync: true, translateTime: "SYS:HH:MM:ss.l" }) : standardOutput(),
  );
}

function standardOutput() {
  const writer = createLogWriter(1);
  process.on("exit", writer.flush);
  return writer;
}
