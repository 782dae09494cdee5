/** The service in which each password is correct and no derivation runs, because these vary by more than what is measured. */
import { noPassword } from "@latchkey/database";
import * as hashing from "@latchkey/hashing";

const createHasher: typeof hashing.createHasher = () => ({
  ...hashing.createHasher({ workers: 1 }),
  hash: async () => noPassword().hashedPassword,
  verify: async () => true,
});
const setup = (build: Bun.PluginBuilder) =>
  void build.module("@latchkey/hashing", () => ({
    exports: { ...hashing, createHasher },
    loader: "object",
  }));
Bun.plugin({ name: "constant derivations", setup });
const { run } = await import("../../src/program.ts");
await run([], { variables: process.env, onListen() {}, exit: process.exit });
