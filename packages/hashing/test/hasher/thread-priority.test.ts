/** Threads that derive stand back for all others, and only they do. */
import { describe, expect, test } from "bun:test";
import { getPriority } from "node:os";
import { availableCores } from "../src/cores.ts";
import { createHasher, kernels } from "../src/index.ts";

interface Task {
  readonly name: string;
  readonly nice: number;
}

/** Every kind of lowered thread that was seen during the load. */
async function loweredUnderLoad(kernel: string, nice: number): Promise<Task[]> {
  const command = [process.execPath, `${import.meta.dir}/fixtures/busy-hasher.ts`, kernel, String(nice)];
  const child = Bun.spawn(command, { stdout: "pipe" });
  const tasks: Task[] = await child.stdout.json();
  expect(await child.exited).toBe(0);
  return tasks;
}

describe.if(process.platform === "linux")("thread priority", () => {
  const names = kernels().map(({ name }) => name);

  test.each(names)("kernel %s: threads that derive are lowered, and no other thread is", async (kernel) => {
    const nice = Math.min(19, getPriority(0) + 7);
    const expected = kernel === "portable" ? [] : [{ name: "derive", nice }];
    expect(await loweredUnderLoad(kernel, nice)).toEqual(expected);
  });

  test("zero leaves every thread as it was", async () => {
    expect(await loweredUnderLoad("auto", 0)).toEqual([]);
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
});

describe("nice", () => {
  test.each([-1, 20, 1.5, Number.NaN])("%p is a RangeError", (nice) => {
    expect(() => createHasher({ nice })).toThrow(RangeError);
  });
});
