/** `bun run generate` creates a migration from the changes of the schema. */
import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  schema: "./src/postgres/schema.ts",
  out: "./src/postgres/migrations",
});
