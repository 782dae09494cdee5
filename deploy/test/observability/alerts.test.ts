/** Prometheus accepts its configuration and the alert rules, and each alert fires for its symptom only. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { inFullRun } from "@latchkey/testing/full-run";
import { ROOT } from "@latchkey/testing/repository";
import { promtool, promtoolTest } from "../promtool.ts";

const FOLDER = join(ROOT, "deploy/observability");

const read = (name: string) => Bun.file(join(FOLDER, name)).text();

promtoolTest("Prometheus accepts the configuration and the rules", () => {
  expect(promtool("check", "config", join(FOLDER, "prometheus.yaml"))).toMatchObject({ code: 0 });
});

inFullRun(promtoolTest)("each alert fires for its symptom, and no other alert does", () => {
  const { code, output } = promtool("test", "rules", join(FOLDER, "alerts.test.yaml"));
  expect([code, output]).toEqual([0, expect.stringContaining("SUCCESS")]);
});

test("each alert has a test in which it fires", async () => {
  const names = [...(await read("alerts.yaml")).matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name);
  const tests = await read("alerts.test.yaml");
  expect(names.length).toBeGreaterThan(12);
  expect(names.filter((name) => !new RegExp(`alertname(="|: )${name}\\b`).test(tests))).toEqual([]);
});

test("every metrics port in the documents, manifests and help texts is 9464", async () => {
  const patterns = ["*.md", "docs/*.md", "deploy/*/*.{yaml,env}", "apps/loadtest/src/cli/*.ts"];
  const files = patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(ROOT)]);
  const port =
    /METRICS_PORT[=:] *"?(\d+)|metrics,? (?:containerPort: |http:\/\/[\d.]+:)(\d+)|127\.0\.0\.1:(9\d{3})\b/g;
  const texts = await Promise.all(files.map((file) => Bun.file(join(ROOT, file)).text()));
  const found = [...texts.join("\n").matchAll(port)].map((match) => match.slice(1).join(""));
  expect(found.length).toBeGreaterThan(5);
  expect([...new Set(found)]).toEqual(["9464"]);
});
