/** Threads that derive stand back for the event loop. */
import { describe, expect, test } from "bun:test";
import { getPriority } from "node:os";
import { availableCores } from "../src/cores.ts";
import { createHasher, kernels } from "../src/index.ts";
import { lowerThreadPriority } from "../src/priority.ts";

interface Task {
  readonly name: string;
  readonly nice: number;
}

async function tasksUnderLoad(kernel: string, nice: number): Promise<Task[]> {
  const command = [process.execPath, `${import.meta.dir}/fixtures/busy-hasher.ts`, kernel, String(nice)];
  const child = Bun.spawn(command, { stdout: "pipe" });
  const tasks: Task[] = await child.stdout.json();
  expect(await child.exited).toBe(0);
  return tasks;
}

describe.if(process.platform === "linux")("thread priority", () => {
  test.each(kernels().map(({ name }) => name))(
    "kernel %s: the workers stand back, the main thread does not",
    async (kernel) => {
      const base = getPriority(0);
      const nice = Math.min(19, base + 7);
      const tasks = await tasksUnderLoad(kernel, nice);
      expect(tasks.filter(({ name }) => name === "Worker")).toEqual([
        { name: "Worker", nice },
        { name: "Worker", nice },
      ]);
      expect(tasks[0]?.nice).toBe(base);
    },
  );

  test("zero leaves every thread as it was", async () => {
    const base = getPriority(0);
    expect((await tasksUnderLoad("auto", 0)).filter((task) => task.nice !== base)).toEqual([]);
  });

  test("a login still ends while another process burns every core", async () => {
    const burners = Array.from({ length: availableCores() }, () =>
      Bun.spawn([process.execPath, "-e", "for (;;);"]),
    );
    try {
      await using hasher = createHasher();
      expect(await hasher.verify("wrong", await hasher.hash("secret"))).toBe(false);
    } finally {
      for (const burner of burners) burner.kill("SIGKILL");
    }
  });

  test("the main thread refuses to be lowered", () => {
    const before = getPriority(0);
    expect(() => lowerThreadPriority(19)).toThrow("main thread");
    expect(getPriority(0)).toBe(before);
  });
});

describe("nice", () => {
  test.each([-1, 20, 1.5, Number.NaN])("%p is a RangeError", (nice) => {
    expect(() => createHasher({ nice })).toThrow(RangeError);
  });
});
