/**
 * Logins with codes from mails. Invariant: a user who requested several codes can enter any of them. The tab therefore keeps the state
 * of each request as long as its code is valid, also over a reload.
 */
import { LatchkeyError } from "./errors.ts";
import { createStoredText, type StorageOption, tabStorage } from "./storage.ts";

/** How long a code is valid. */
const VALID_MS = 10 * 60 * 1000;

interface RequestedCode {
  readonly email: string;
  readonly state: string;
  readonly requestedAt: number;
}

export function createRequestedCodes(key: string, option: StorageOption = tabStorage) {
  const stored = createStoredText(option, key);
  let inMemory: readonly RequestedCode[] = [];
  /** By state, so that a call after a 429 begins with the states that were not reached. */
  const rejections = new Map<string, number>();

  const read = async (): Promise<readonly RequestedCode[]> => {
    const text = await stored.read();
    const codes = text === undefined ? inMemory : parseCodes(text);
    return codes.filter(({ requestedAt }) => Math.abs(Date.now() - requestedAt) < VALID_MS);
  };
  const write = async (codes: readonly RequestedCode[]): Promise<void> => {
    inMemory = codes;
    await stored.write(codes.length === 0 ? null : JSON.stringify(codes));
  };

  return {
    async keep(email: string, state: string): Promise<void> {
      await write([{ email: toKey(email), state, requestedAt: Date.now() }, ...(await read())]);
    },
    /** The newest request of this tab whose code is still valid. */
    async newest(): Promise<RequestedCode | undefined> {
      return (await read())[0];
    },
    /**
     * Calls `logIn` with the state of each code that was requested for this e-mail, the least rejected first and of these the newest,
     * until one accepts the code.
     * @param state of the request that the application finishes. It is used even if its code has expired
     * @throws the error of the first state if none accepts the code, or at once another error, such as a 429
     */
    async finish<Result>(email: string, state: string, logIn: (state: string) => Promise<Result>) {
      const states = (await read()).filter((code) => code.email === toKey(email)).map((code) => code.state);
      const rejectionsOf = (one: string) => rejections.get(one) ?? 0;
      const candidates = [...new Set([...states, state])];
      candidates.sort((one, other) => rejectionsOf(one) - rejectionsOf(other));
      let rejected: unknown;
      for (const candidate of candidates) {
        try {
          const result = await logIn(candidate);
          // The login has ended all codes of the user.
          await write((await read()).filter((code) => code.email !== toKey(email)));
          return result;
        } catch (error) {
          if (!(error instanceof LatchkeyError && error.code === "LOGIN_CODE_INVALID")) throw error;
          rejections.set(candidate, rejectionsOf(candidate) + 1);
          rejected ??= error;
        }
      }
      throw rejected;
    },
  };
}

const toKey = (email: string): string => email.trim().toLowerCase();

/** The cast is safe because only this module writes the text, and a text without a list is ignored. */
function parseCodes(text: string | null): readonly RequestedCode[] {
  try {
    const codes: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(codes) ? (codes as RequestedCode[]) : [];
  } catch {
    return [];
  }
}
