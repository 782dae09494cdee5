/** `events on`, `off` and `show` beside a program that uses the database, as operators run them. */
import { expect, test } from "bun:test";
import { openDatabase } from "@latchkey/database";
import { openFolder } from "@latchkey/testing/folder";
import { sharedPostgresServer } from "@latchkey/testing/shared-postgres-server";
import { expectSentence, runTool } from "../support/tool.ts";

test.each(["libsql", "postgres"])(
  "recording on %s is switched on and off while the service runs",
  async (kind) => {
    await using folder = await openFolder();
    const url =
      kind === "libsql" ? folder.databaseUrl : await (await sharedPostgresServer()).createDatabase();
    const tool = (...args: string[]) => runTool(["events", ...args], { env: { DATABASE_URL: url } });
    const json = async (...args: string[]) => JSON.parse((await tool(...args, "--json")).stdout);
    await using service = await openDatabase({ url });
    await service.migrate();
    const off = { recorded: false, days: null, epoch: null, last_position: null, stored: 0 };
    expect(await json("show")).toEqual(off);
    for (const days of ["0", "366", "1.5", "x"]) {
      const { code, stderr } = await tool("on", "--days", days);
      expect([code, stderr]).toEqual([64, expect.stringContaining("from 1 to 365")]);
      expectSentence(stderr);
    }
    expect(await json("show")).toEqual(off);
    const { epoch } = await json("on", "--days", "365");
    const user = { email: "ada@example.com", username: "ada", hashedPassword: "salt$digest" };
    await service.users.create(user);
    const { code, stdout, stderr } = await tool("on");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe("Events are recorded and kept for 30 days. 1 are stored.\n");
    expect(await json("show")).toEqual({ recorded: true, days: 30, epoch, last_position: 0, stored: 1 });
    expect((await tool("off")).stdout).toBe("Events are not recorded.\n");
    expect(await json("show")).toEqual(off);
    expect((await json("on")).epoch).not.toBe(epoch);
  },
);
