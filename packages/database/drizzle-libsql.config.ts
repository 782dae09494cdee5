/** `bun run generate` turns a change of the schema into the next migration. */

import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  schema: "./src/libsql/schema.ts",
  out: "./src/libsql/migrations",
});
