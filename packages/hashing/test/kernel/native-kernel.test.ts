/** Only the hashing threads run at a lower priority. */
import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import { getPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { availableCores } from "../../src/cpu-quota.ts";
import { createHasher, kernels } from "../../src/index.ts";
import { chooseKernel } from "../../src/kernel/choose-kernel.ts";
import { nativeKernelNames } from "../support/native-addon.ts";
import { fixtureUrl } from "../support/open-pool.ts";

interface Task {
  readonly name: string;
  readonly nice: number;
}

/** The low-priority threads that were found under load. */
async function lowPriorityThreads(kernel: string, nice: number): Promise<Task[]> {
  const command = [process.execPath, fixtureUrl("busy-hasher.ts").pathname, kernel, String(nice)];
  const child = Bun.spawn(command, { stdout: "pipe" });
  const tasks: Task[] = await child.stdout.json();
  expect(await child.exited).toBe(0);
  return tasks;
}

describe.if(process.platform === "linux")("thread priority", () => {
  const names = kernels().map(({ name }) => name);

  test.each(names)("is lower for hashing threads and for no other thread with kernel %s", async (kernel) => {
    const nice = Math.min(19, getPriority(0) + 7);
    const expected = kernel === "portable" ? [] : [{ name: "derive", nice }];
    expect(await lowPriorityThreads(kernel, nice)).toEqual(expected);
  });

  test("is unchanged with a nice value of zero", async () => {
    expect(await lowPriorityThreads("auto", 0)).toEqual([]);
  });

  test.each(nativeKernelNames)(
    "is unchanged, with a warning, if the system cannot start a thread with kernel %s",
    async (name) => {
      const worker = new Worker(fixtureUrl("failing-thread.ts"), { workerData: chooseKernel(name).choice });
      const [warning] = await once(worker, "message");
      expect(warning).toContain("nice");
      await worker.terminate();
    },
  );

  test("does not starve a login while other processes use every core", async () => {
    const busyProcesses = Array.from({ length: availableCores() }, () =>
      Bun.spawn([process.execPath, "-e", "for (;;);"]),
    );
    try {
      await using hasher = createHasher();
      expect(await hasher.verify("wrong", await hasher.hash("secret"))).toBe(false);
    } finally {
      for (const child of busyProcesses) child.kill("SIGKILL");
    }
  });
});
