import { expect, test } from "bun:test";
import { pbkdf2Sync } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { describeNative } from "./describe-native.ts";
import type { Task } from "./native-worker.ts";

await describeNative("the addon in workers", ({ path, kernels }) => {
  const last = kernels.at(-1);
  if (!last) throw new Error("no kernel");
  const kernel = last.id;

  interface Running extends AsyncDisposable {
    /** The first message; rejects with the worker's error. */
    readonly answer: Promise<unknown>;
    readonly closed: Promise<unknown>;
  }

  function start(task: Task): Running {
    const worker = new Worker(new URL("./native-worker.ts", import.meta.url));
    const closed = new Promise((resolve) => worker.addEventListener("close", resolve));
    const answer = new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    });
    worker.postMessage(task);
    return {
      answer,
      closed,
      async [Symbol.asyncDispose]() {
        worker.terminate();
        await closed;
      },
    };
  }

  const derived = (password: string) => pbkdf2Sync(password, "", 1_000, 32, "sha256").toString("hex");

  test("many workers load the addon and derive at once", async () => {
    const passwords = Array.from({ length: 8 }, (_, index) => `password ${index}`);
    const answers = passwords.map(async (password) => {
      await using worker = start({ path, kernel, password });
      return await worker.answer;
    });
    expect(await Promise.all(answers)).toEqual(passwords.map(derived));
  });

  /** Threads of this process that bear the name of those that derive. */
  const derivers = () =>
    readdirSync("/proc/self/task").filter((id) => nameOf(id).startsWith("derive")).length;

  test.if(process.platform === "linux")("a lowered thread ends with the worker that started it", async () => {
    const before = derivers();
    const doomed = start({ path, kernel, nice: 1 });
    expect(await doomed.answer).toBe("advancing");
    expect(derivers()).toBe(before + 1);
    await doomed[Symbol.asyncDispose]();
    expect(derivers()).toBe(before);
  });

  test("a worker that is terminated inside a kernel ends, and the others go on", async () => {
    for (let round = 0; round < 5; round++) {
      const doomed = start({ path, kernel });
      expect(await doomed.answer).toBe("advancing");
      await using other = start({ path, kernel, password: "other" });
      await doomed[Symbol.asyncDispose]();
      expect(await other.answer).toBe(derived("other"));
    }
  });
});

/** Empty for a thread that has ended since it was listed. */
function nameOf(id: string): string {
  try {
    return readFileSync(`/proc/self/task/${id}/comm`, "utf8");
  } catch {
    return "";
  }
}
