/** The documents against the code: every error code, and a tour of the API that works when pasted into a shell. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { ROOT } from "@latchkey/testing/repository";
import { runProcess } from "@latchkey/testing/run-process";
import { ERROR_CODES, ERROR_TABLE } from "../../src/errors.ts";
import { createFileTransport } from "../../src/mail/file-transport.ts";
import { startSender } from "../support/mail-sender.ts";
import { startService } from "../support/service.ts";

const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text();
const blocksOf = (markdown: string): string[] =>
  [...markdown.matchAll(/```sh\n([\s\S]+?)```/g)].map(([, block = ""]) => block);

test("docs/errors.md lists every error code with its status, and no other", async () => {
  const rows = (await read("docs/errors.md")).matchAll(/^\| (`.+`) \| (\d+) \|/gm);
  const listed = [...rows].flatMap(([, codes = "", status]) =>
    [...codes.matchAll(/\w+/g)].map(([code]) => `${code} ${status}`),
  );
  expect(listed.sort()).toEqual(ERROR_CODES.map((code) => `${code} ${ERROR_TABLE[code].status}`).sort());
});

describe("the tour", async () => {
  const readme = await read("README.md");
  const [, login = ""] = /^## First login$(.+?)^## /ms.exec(readme) ?? [];
  const tour = login + (await read("docs/api.md"));

  for (const shell of ["bash", "zsh"]) {
    const missing = [shell, "curl"].filter((program) => Bun.which(program) === null);
    if (missing.length > 0)
      process.stderr.write(`The tour is not tested: ${missing.join(", ")} not installed.\n`);
    const installedTest = test.concurrent.skipIf(missing.length > 0 && !process.env.CI);
    const tourTest = shell === "bash" ? installedTest : inFullRun(installedTest);
    tourTest(`of README and docs/api.md works when pasted into ${shell}`, async () => {
      // Mails with a name that is not ASCII have another encoding.
      await using service = await startService({ env: { PRODUCT_NAME: "Müller & Søn" } });
      await using folder = await openFolder();
      const transport = createFileTransport(join(folder.path, "data/outbox"), { info: () => undefined });
      await using _sender = await startSender(service, transport);
      const script = `set -e\n${blocksOf(tour).join("").replace("http://127.0.0.1:3000", service.url)}`;
      const { stdout, ...others } = await runProcess([shell, "-c", script], { cwd: folder.path });
      expect(others).toEqual({ code: 0, stderr: "" });
      expect(stdout).toContain('"username":"countess"');
      expect(stdout).toContain('{"items":[{"id":3,"title":"Tea"');
      expect(stdout).toContain("204\n");
      expect(stdout).toEndWith('{"status":"ok"}\n{"status":"ready"}\n');
      expect(stdout).not.toContain('"detail"');
    });
  }

  test("has no comments in its commands, which an interactive zsh would run", () => {
    expect(blocksOf(readme + tour).filter((block) => /(^|\s)#/.test(block))).toEqual([]);
  });
});
