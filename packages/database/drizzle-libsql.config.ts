/** `bun run generate` creates a migration from the changes of the schema. */
import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  schema: "./src/libsql/schema.ts",
  out: "./src/libsql/migrations",
});
