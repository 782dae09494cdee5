/** Functions that the command-line programs share: exit codes, errors, numbers, output and prompts. */
export * from "./arguments.ts";
export * from "./errors.ts";
export * from "./machine.ts";
export * from "./output.ts";
export * from "./program.ts";
export * from "./prompt.ts";
