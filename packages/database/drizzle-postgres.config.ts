/** `bun run generate` turns a change of the schema into the next migration. */

import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  schema: "./src/postgres/schema.ts",
  out: "./src/postgres/migrations",
});
