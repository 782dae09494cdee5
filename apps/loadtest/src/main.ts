/** Arguments → accounts → load → report. The only caller of exit. */
import { createAccounts, expectService } from "./accounts.ts";
import { type Arguments, HELP, parseArguments } from "./arguments.ts";
import { LoadtestError } from "./errors.ts";
import { runLoginLoad } from "./login-load.ts";
import { startProbeStream } from "./probe-stream.ts";
import { describeReport, type Report } from "./report.ts";

async function measure({ json: _json, help: _help, ...asked }: Arguments): Promise<Report> {
  const { url, users, concurrency, durationSeconds } = asked;
  await expectService(url);
  const accounts = await createAccounts(url, users);
  const probes = startProbeStream(url);
  const logins = await runLoginLoad({ url, accounts, concurrency, durationSeconds });
  return { ...asked, logins, probe: await probes.stop() };
}

async function main(): Promise<void> {
  const given = parseArguments(process.argv.slice(2));
  if (given.help) return void process.stdout.write(HELP);
  const report = await measure(given);
  process.stdout.write(given.json ? `${JSON.stringify(report)}\n` : describeReport(report));
}

try {
  await main();
} catch (error) {
  if (!(error instanceof LoadtestError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(error.exitCode);
}
