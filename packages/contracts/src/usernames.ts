/** Usernames for users who did not choose one. */
import { USERNAME_MAX_LENGTH } from "./bounds.ts";
import { VISIBLE_TEXT_PATTERN } from "./text.ts";

const VISIBLE = new RegExp(VISIBLE_TEXT_PATTERN, "u");
const RANDOM_NUMBERS = 1_000_000_000;
const COUNTED = 9;

/** Returns a valid username that is as similar to the text as possible. */
function toUsername(text: string, suffix: string): string {
  const valid = text.replaceAll(/[\0\ud800-\udfff\p{Cc}\p{Cf}]/gu, "").trim();
  const name = valid !== "" && VISIBLE.test(valid) ? valid : "user";
  return [...name].slice(0, USERNAME_MAX_LENGTH - suffix.length).join("") + suffix;
}

/** Yields usernames without end: first the text itself, then the text with small numbers, then with random ones. */
export function* usernameCandidates(text: string): Generator<string, never> {
  yield toUsername(text, "");
  for (let number = 2; number <= COUNTED; number++) yield toUsername(text, String(number));
  for (;;) yield toUsername(text, String(Math.floor(Math.random() * RANDOM_NUMBERS)));
}

/** The part of an e-mail before the `@`. */
export const localPartOf = (email: string): string => email.slice(0, email.lastIndexOf("@"));
