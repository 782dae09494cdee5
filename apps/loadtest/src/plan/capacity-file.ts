/** Reads the report of a capacity search for the planner, from a file or the committed reference. */
import { describeError, usageError } from "@latchkey/cli";
import Type from "typebox";
import { Compile } from "typebox/compile";
import reference from "./reference.json" with { type: "json" };
import { createServiceModel } from "./service-model.ts";

/** A failed step that achieved less than this proportion of its rate was overloaded. */
const OVERLOADED = 0.95;

const Positive = Type.Number({ exclusiveMinimum: 0 });
const Count = Type.Integer({ minimum: 1 });

/** The members that the planner needs; a report has more. */
const capacityFile = Compile(
  Type.Object({
    version: Type.Literal(1),
    startedAt: Type.String(),
    machine: Type.String(),
    curve: Type.Array(Type.Object({ concurrency: Count, perSecond: Positive }), { minItems: 1 }),
    steps: Type.Array(
      Type.Object({
        ratePerSecond: Positive,
        achievedPerSecond: Type.Number({ minimum: 0 }),
        passed: Type.Boolean(),
      }),
    ),
    cores: Type.Union([Type.Null(), Count]),
    kernel: Type.Union([Type.Null(), Type.String()]),
    /** Of all workers together. Like the cores, null in reports without metrics. */
    lanes: Type.Union([Type.Null(), Count]),
  }),
);

export type Capacity = Awaited<ReturnType<typeof readCapacity>>;

/**
 * @param path of a report written by `--find-capacity --report`; null for the committed reference
 * @throws {CliError} with exit code 64
 */
export async function readCapacity(path: string | null) {
  const report = path === null ? reference : await readJson(path);
  const name = path ?? "the reference";
  if (!capacityFile.Check(report)) {
    const [error] = capacityFile.Errors(report);
    const problem = `${error?.instancePath.slice(1) || "it"} ${error?.message ?? "is not valid"}`;
    throw usageError(
      `${name} is not a report of --find-capacity: ${problem}; such a report has a curve of logins per second by concurrency.`,
    );
  }
  const { cores, lanes, kernel, machine, startedAt } = report;
  if (cores === null || lanes === null) {
    throw usageError(
      `${name} does not contain the number of hash workers: repeat --find-capacity with --metrics.`,
    );
  }
  const curve = report.curve.toSorted((a, b) => a.concurrency - b.concurrency);
  const overloaded = report.steps
    .filter((step) => !step.passed && step.achievedPerSecond < OVERLOADED * step.ratePerSecond)
    .map(({ achievedPerSecond }) => achievedPerSecond);
  const lanesPerWorker = Math.max(1, Math.floor(lanes / cores));
  const service = createServiceModel({ curve, overloaded, workers: cores, lanes: lanesPerWorker });
  return { service, machine, kernel, startedAt, path };
}

async function readJson(path: string): Promise<unknown> {
  try {
    return await Bun.file(path).json();
  } catch (error) {
    const reason = error instanceof SyntaxError ? "it is not JSON" : describeError(error);
    throw usageError(`${path} cannot be read: ${reason}.`);
  }
}
