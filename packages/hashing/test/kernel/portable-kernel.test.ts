/** The portable kernel derives from copies, because the memory of a job can be wiped meanwhile. */
import { expect, test } from "bun:test";
import { PortableKernel } from "../../src/kernel/portable-kernel.ts";

test("a cleared lane leaves nothing in the copies of the password and the salt", () => {
  const copies: Uint8Array[] = [];
  const copied = (text: string) => {
    const bytes = Uint8Array.from(Buffer.from(text));
    copies.push(bytes);
    return Object.assign(new Uint8Array(0), { slice: () => bytes });
  };
  const kernel = new PortableKernel();
  kernel.load(0, { password: copied("secret"), salt: copied("salt"), iterations: 1 });
  kernel.run();
  expect(kernel.isFinished()).toBe(true);
  kernel.clear();
  expect(copies.map((bytes) => bytes.every((byte) => byte === 0))).toEqual([true, true]);
});
