/** A replica at its start: ready, it waits for its standard input to end, migrates the database in its argument and says so. */

import { openDatabase } from "../src/index.ts";

await using database = await openDatabase({ url: process.argv[2] ?? "" });
process.stdout.write("ready\n");
for await (const _ of process.stdin);
await database.migrate();
process.stdout.write("migrated\n");
