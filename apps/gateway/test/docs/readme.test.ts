/** The README matches the code: every error code, and a tour that works as printed. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ERROR_CODES } from "@latchkey/contracts";
import { ERROR_TABLE } from "../../src/errors.ts";
import { startService } from "../support/service.ts";

const readme = await Bun.file(join(import.meta.dir, "../../../../README.md")).text();
const rows = readme.split("\n").filter((line) => line.startsWith("| "));

describe("README", () => {
  test.each([...ERROR_CODES])("has %s with its status", (code) => {
    const row = rows.find((line) => line.includes(`\`${code}\``));
    expect(row).toContain(`| ${ERROR_TABLE[code].status} |`);
  });

  test("has a tour that works as printed", async () => {
    await using service = await startService();
    const [, tour = ""] = /## Five minutes with curl\n+```sh\n([\s\S]+?)```/.exec(readme) ?? [];
    const script = `set -e\n${tour.replace("http://127.0.0.1:3000", service.url)}`;
    const shell = Bun.spawn(["bash", "-c", script], { stdout: "pipe", stderr: "pipe" });
    const [output, errors] = await Promise.all([
      new Response(shell.stdout).text(),
      new Response(shell.stderr).text(),
    ]);
    expect(errors).toBe("");
    expect(await shell.exited).toBe(0);
    expect(output).toContain('"username":"countess"');
    expect(output).toContain('{"items":[{"id":3,"title":"Tea"');
    expect(output).toContain("204\n");
    expect(output).toEndWith('{"status":"ok"}{"status":"ready"}');
    expect(output).not.toContain('"detail"');
  });
});
