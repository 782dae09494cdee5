/** An embedded database for tests. The test process keeps its connection open, as the service does, while the tool runs. */
import { openDatabase } from "@latchkey/database";
import { createHasher } from "@latchkey/hashing";
import { openMigratedFolder } from "@latchkey/testing/migrated-file";
import { runTool } from "./tool.ts";

export const EMAIL = "ada@example.com";

export type SharedDatabase = Awaited<ReturnType<typeof openSharedDatabase>>;

/** Opens a new database with the current schema in the test process. */
export async function openSharedDatabase() {
  const folder = await openMigratedFolder((url) => openDatabase({ url }));
  const env = { DATABASE_URL: folder.databaseUrl };
  const database = await openDatabase({ url: folder.databaseUrl });
  /** Runs the tool on this database, with the kernel that does not give way to the other processes of a busy machine. */
  const tool = (args: readonly string[], input?: string | Uint8Array) =>
    runTool(args, { env: { ...env, HASH_KERNEL: "portable" }, input });
  return {
    env,
    folder: folder.path,
    database,
    tool,
    /** Adds `--json`, expects success and returns the parsed output. */
    async json<Value>(args: readonly string[], input?: string): Promise<Value> {
      const { code, stdout, stderr } = await tool([...args, "--json"], input);
      if (code !== 0) throw new Error(`${args.join(" ")}: ${code} ${stderr}`);
      return JSON.parse(stdout) as Value;
    },
    /** Creates users, without the tool and with a password that nobody knows. */
    insert: (usernames: readonly string[], domain = "example.com") =>
      database.users.import(
        usernames.map((username) => ({
          email: `${username}@${domain}`,
          username,
          hashedPassword: "salt$digest",
          importedHash: null,
        })),
      ),
    /** Whether a login of the service as `EMAIL` would succeed. */
    async canLogIn(password: string): Promise<boolean> {
      await using hasher = createHasher({ workers: 1, kernel: "portable" });
      const user = await database.users.findByEmail(EMAIL);
      return user !== null && (await hasher.verify(password, user.hashedPassword));
    },
    async [Symbol.asyncDispose]() {
      await database.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
