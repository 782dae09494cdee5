/** Which of several mailed codes is tried. The service has five attempts a minute. */
import { expect, test } from "bun:test";
import { createRequestedCodes } from "../src/email-login.ts";
import { LatchkeyError } from "../src/errors.ts";

const errorOf = (status: number, code: string) =>
  new LatchkeyError(new Response(null, { status }), { code, detail: code });

test("the code of each mail is reached, however many were requested, although a limit stops each try", async () => {
  const codes = createRequestedCodes("codes", () => null);
  const states = Array.from({ length: 12 }, (_, index) => `state ${index}`);
  for (const state of states) await codes.keep("ada@example.com", state);
  const tried: string[] = [];
  const finish = (right: string) => {
    let left = 5;
    return codes.finish(" Ada@example.com", "state 11", async (state) => {
      if (left === 0) throw errorOf(429, "TOO_MANY_REQUESTS");
      left -= 1;
      tried.push(state);
      if (state !== right) throw errorOf(401, "LOGIN_CODE_INVALID");
      return "a token";
    });
  };
  for (let call = 0; call < 2; call++)
    await expect(finish("state 0")).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
  expect(await finish("state 0")).toBe("a token");
  expect(tried).toEqual(states.toReversed());
});
