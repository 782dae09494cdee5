/** The report of a capacity search as the planner reads it: from a file, or the one that is committed for reference. */
import Type from "typebox";
import { Compile } from "typebox/compile";
import { describeError, EXIT, LoadtestError } from "../errors.ts";
import reference from "./reference.json" with { type: "json" };
import { createService, type ServiceModel } from "./service-model.ts";

/** The portable kernel has one lane; the others as many as the widest that the processor runs. */
const PORTABLE_LANES = 1;
const NATIVE_LANES = 16;

/** A step that failed and answered less than this share of what was asked had more to do than it could. */
const OVERLOADED = 0.95;

const Positive = Type.Number({ exclusiveMinimum: 0 });

/** The members that the planner needs; a report has more. */
const CapacityFile = Type.Object({
  version: Type.Literal(1),
  startedAt: Type.String(),
  machine: Type.String(),
  curve: Type.Array(Type.Object({ concurrency: Type.Integer({ minimum: 1 }), perSecond: Positive }), {
    minItems: 1,
  }),
  steps: Type.Array(
    Type.Object({
      ratePerSecond: Positive,
      achievedPerSecond: Type.Number({ minimum: 0 }),
      passed: Type.Boolean(),
    }),
  ),
  cores: Type.Union([Type.Null(), Type.Integer({ minimum: 1 })]),
  kernel: Type.Union([Type.Null(), Type.String()]),
  /** Of all workers together; reports without metrics lack it. */
  lanes: Type.Optional(Type.Union([Type.Null(), Type.Integer({ minimum: 1 })])),
});
const capacityFile = Compile(CapacityFile);

export interface Capacity {
  readonly service: ServiceModel;
  readonly machine: string;
  readonly kernel: string | null;
  readonly startedAt: string;
  /** Null: the committed reference. */
  readonly path: string | null;
}

/**
 * @param path of a report that `--find-capacity --report` wrote; null for the committed reference
 * @throws {LoadtestError} with exit code 64
 */
export async function readCapacity(path: string | null): Promise<Capacity> {
  const report = path === null ? reference : await readJson(path);
  const name = path ?? "the reference";
  if (!capacityFile.Check(report)) {
    throw new LoadtestError(
      `${name} is no report of --find-capacity: ${firstFault(report)}; such a report has a curve of logins a second by ` +
        "concurrency.",
      EXIT.usage,
    );
  }
  const { cores, kernel, machine, startedAt } = report;
  if (cores === null) {
    throw new LoadtestError(
      `${name} does not say how many hash workers it was measured with: repeat --find-capacity with --metrics.`,
      EXIT.usage,
    );
  }
  const lanes = report.lanes
    ? Math.max(1, Math.floor(report.lanes / cores))
    : kernel === "portable"
      ? PORTABLE_LANES
      : NATIVE_LANES;
  const curve = report.curve.toSorted((a, b) => a.concurrency - b.concurrency);
  const overloaded = report.steps
    .filter((step) => !step.passed && step.achievedPerSecond < OVERLOADED * step.ratePerSecond)
    .map(({ achievedPerSecond }) => achievedPerSecond);
  const service = createService({ curve, overloaded, workers: cores, lanes });
  return { service, machine, kernel, startedAt, path };
}

async function readJson(path: string): Promise<unknown> {
  try {
    return await Bun.file(path).json();
  } catch (error) {
    const reason = error instanceof SyntaxError ? "it is not JSON" : describeError(error);
    throw new LoadtestError(`${path} cannot be read: ${reason}.`, EXIT.usage);
  }
}

function firstFault(report: unknown): string {
  const [fault] = capacityFile.Errors(report);
  return fault ? `${fault.instancePath.slice(1) || "it"} ${fault.message}` : "it is not what it should be";
}
