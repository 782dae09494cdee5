/** Starts the service with the first `LAYERS` middleware only. */
import { run } from "../../src/program.ts";

const { LAYERS, ...variables } = process.env;
await run([], { variables, layers: Number(LAYERS), onListen() {}, exit: process.exit });
