/** The commands of docs/production.md that roll out a release on Kubernetes, with a `kubectl` that only records its calls. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { ROOT } from "@latchkey/testing/repository";

const guide = await Bun.file(join(ROOT, "docs/production.md")).text();
const [, commands = ""] = /^```sh\n(kubectl delete job [^`]*)^```$/m.exec(guide) ?? [];

test.each([
  ["nothing", 0, ["delete", "kustomize", "apply", "wait", "apply"]],
  ["delete", 1, ["delete"]],
  ["kustomize", 1, ["delete", "kustomize"]],
  ["apply", 1, ["delete", "kustomize", "apply"]],
  ["wait", 1, ["delete", "kustomize", "apply", "wait"]],
])("after a failure of %s, nothing else is applied", async (failing, code, expected) => {
  await using folder = await openFolder();
  const kubectl = `kubectl() { echo "$1" >&2; [ "$1" != ${failing} ]; }`;
  const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", `${kubectl}\n${commands}`], { cwd: folder.path });
  expect([exitCode, stderr.toString().trim().split("\n")]).toEqual([code, expected]);
});
