/** Another process on the same database. `migrate`: waits for its standard input to end, then migrates. `write`: creates todos. */
import { openDatabase } from "../../src/index.ts";

/** More than the number of writes that share a commit. */
const SIMULTANEOUS_WRITES = 16;

const [action, url = ""] = process.argv.slice(2);
await using database = await openDatabase({ url });
if (action === "migrate") {
  process.stdout.write("ready\n");
  for await (const _ of process.stdin);
  await database.migrate();
} else {
  // Prints the id of each created todo until the process is killed.
  const write = async () => {
    for (;;) {
      const { id } = await database.todos.create({ title: "durable", completed: false });
      process.stdout.write(`${id}\n`);
    }
  };
  await Promise.all(Array.from({ length: SIMULTANEOUS_WRITES }, write));
}
