/** A replica at the same file, in a process of its own; its first argument selects what it does. */
import { openDatabase } from "../src/index.ts";

const [action, url = ""] = process.argv.slice(2);
await using database = await openDatabase({ url });
if (action === "migrate") {
  await database.migrate();
  process.stdout.write("migrated\n");
} else {
  // Acknowledges every todo by its id once it is created, until the process is killed.
  for (;;) {
    const { id } = await database.todos.create({ title: "durable", completed: false });
    process.stdout.write(`${id}\n`);
  }
}
