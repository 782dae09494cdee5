/**
 * Sends forms, and shows the service's answers beside the fields. The service checks the fields, because the rules of browsers
 * differ from its rules.
 */
import {
  LatchkeyConnectionError,
  LatchkeyError,
  LatchkeyOidcError,
  LatchkeyPasskeyError,
} from "@latchkey/client";
import type { ScriptTexts } from "../texts/en.ts";
import { all, announce, fill, inSeconds, texts, unbroken } from "./page.ts";

/** Texts by the name of the field. */
export type Members = Readonly<Record<string, string>>;
interface Issue {
  readonly type: string;
  readonly msg: string;
}
type FieldErrors = readonly (readonly [name: string, message: string])[];
/** Shows an error itself, or returns false. */
type ShowError = (error: unknown) => boolean;
type Work = (members: Members, action: string) => Promise<unknown>;

/** An error of a page with a text of its own. */
export class PageError extends Error {
  constructor(readonly code: keyof ScriptTexts) {
    super(code);
  }
}

/** The fields beside which errors are shown. The keys are error codes. */
const FIELDS: Readonly<Record<string, string>> = {
  INVALID_CREDENTIALS: "password",
  CURRENT_PASSWORD_INCORRECT: "current_password",
  FACTOR_CODE_REJECTED: "code",
  FACTOR_CODE_INCORRECT: "code",
  FACTOR_CODE_INVALID: "code",
  LOGIN_CODE_INVALID: "code",
  USERNAME_TAKEN: "username",
  EMAIL_TAKEN: "email",
};

/** The code of an error, by which texts are found. */
export function codeOf(error: unknown): string {
  if (error instanceof PageError) return error.code;
  if (error instanceof LatchkeyPasskeyError) return error.reason;
  if (error instanceof LatchkeyOidcError)
    return error.reason === "denied" ? "IDENTITY_REJECTED" : "BEGUN_ELSEWHERE";
  if (!(error instanceof LatchkeyError)) return "";
  if (error.code !== "USER_ALREADY_EXISTS") return error.code ?? "";
  return error.field === "username" ? "USERNAME_TAKEN" : "EMAIL_TAKEN";
}

/** The cast is safe because the result of an unknown name is undefined. */
const textOf = (name: string): string | undefined => (texts as Readonly<Record<string, string>>)[name];

export function messageOf(error: unknown): string {
  const known = textOf(codeOf(error));
  if (known) return known;
  if (error instanceof LatchkeyConnectionError) return texts.unreachable;
  if (error instanceof LatchkeyError && error.status === 429)
    return fill(texts.tooMany, { when: inSeconds(error.retryAfterSeconds || 60) });
  return texts.failed;
}

const inputOf = (form: HTMLFormElement, name: string): HTMLInputElement | null => {
  const input = form.elements.namedItem(name);
  return input instanceof HTMLInputElement ? input : null;
};

const inputsOf = (form: HTMLFormElement): HTMLInputElement[] =>
  [...form.elements].filter((element) => element instanceof HTMLInputElement);

const labelOf = (input: HTMLInputElement): string => input.labels?.[0]?.textContent?.trim() ?? "";

/** Whether the service requires the current password, which the request did not have. */
export const asksPassword = (error: unknown): boolean =>
  error instanceof LatchkeyError &&
  error.status === 422 &&
  error.detail.some(({ loc, type }) => loc.at(-1) === "current_password" && type === "missing");

/** What patterns require, by the name of the field. */
const PATTERNS: Readonly<Record<string, string>> = {
  email: texts.notAnEmail,
  username: texts.invisible,
  name: texts.invisible,
};

/** In the language of the page, by the stable type of the issue. Its `msg`, which is English, is used for others. */
function describe({ type, msg }: Issue, input: HTMLInputElement): string {
  const [count] = /\d+/.exec(msg) ?? [];
  const known: Readonly<Record<string, string | undefined>> = {
    missing: texts.missing,
    string_too_short: count === undefined ? texts.missing : texts.tooShort,
    string_too_long: texts.tooLong,
    string_pattern_mismatch: PATTERNS[input.name],
  };
  return fill(known[type] ?? texts.issue, { field: labelOf(input), issue: msg, count: count ?? "" });
}

/** Messages by the name of the field. Issues of members without a field in the form are omitted. */
function fieldErrorsOf(form: HTMLFormElement, error: unknown): FieldErrors {
  if (asksPassword(error) && inputOf(form, "current_password"))
    return [["current_password", texts.askedPassword]];
  if (error instanceof LatchkeyError && error.status === 422)
    return error.detail.flatMap((issue) => {
      const input = inputOf(form, String(issue.loc.at(-1)));
      return input ? [[input.name, describe(issue, input)] as const] : [];
    });
  const name = FIELDS[codeOf(error)];
  return name && inputOf(form, name) ? [[name, messageOf(error)]] : [];
}

/** Shows the messages beside their fields, or `problem` above the form, and moves the focus there. */
export function showErrors(form: HTMLFormElement, fieldErrors: FieldErrors, problem = ""): void {
  for (const [name, message] of fieldErrors) {
    const input = inputOf(form, name);
    const place = input && document.getElementById(`${input.id}-error`);
    input?.setAttribute("aria-invalid", "true");
    if (place) place.textContent = unbroken(message);
  }
  const invalid = form.querySelector<HTMLElement>("[aria-invalid]");
  const place = form.querySelector<HTMLElement>(".problem");
  if (!invalid && place) place.textContent = unbroken(problem);
  (invalid ?? place)?.focus();
}

const showError = (form: HTMLFormElement, error: unknown): void =>
  showErrors(form, fieldErrorsOf(form, error), messageOf(error));

function clearErrors(form: HTMLFormElement): void {
  for (const place of form.querySelectorAll(".error, .problem")) place.textContent = "";
  for (const input of form.elements) input.removeAttribute("aria-invalid");
}

const missingOf = (form: HTMLFormElement): FieldErrors =>
  inputsOf(form)
    .filter((input) => input.required && (input.type === "checkbox" ? !input.checked : input.value === ""))
    .map((input) => [input.name, input.dataset.missing ?? fill(texts.missing, { field: labelOf(input) })]);

/** Optional fields that are empty are not sent. */
const membersOf = (form: HTMLFormElement): Members =>
  Object.fromEntries(
    [...new FormData(form)].flatMap(([name, value]) => (value === "" ? [] : [[name, String(value)]])),
  );

/** Increased when a user logs out: what was begun before shows nothing any more. */
let generation = 0;
export const forgetRunning = (): void => void generation++;

interface RunOptions {
  /** What shows that it runs. */
  readonly button?: HTMLElement | null;
  readonly showOwnError?: ShowError | undefined;
}

/** Runs `work`, unless it already runs, and shows its error in the form. */
export async function run(
  form: HTMLFormElement,
  work: () => Promise<unknown>,
  { button, showOwnError = () => false }: RunOptions = {},
): Promise<void> {
  if (form.hasAttribute("aria-busy")) return;
  clearErrors(form);
  const began = generation;
  // A disabled button would lose the focus.
  form.setAttribute("aria-busy", "true");
  button?.classList.add("busy");
  try {
    await announce(work);
  } catch (error) {
    if (began === generation && !showOwnError(error)) showError(form, error);
  } finally {
    form.removeAttribute("aria-busy");
    button?.classList.remove("busy");
  }
}

/** Shows or hides the password beside the button. */
function reveal(button: HTMLElement, isShown: boolean): void {
  const input = button.previousElementSibling;
  if (!(input instanceof HTMLInputElement)) return;
  const verb = isShown ? texts.hide : texts.show;
  input.type = isShown ? "text" : "password";
  button.textContent = verb;
  button.setAttribute("aria-label", `${verb} ${labelOf(input).toLowerCase()}`);
}

/** Calls `work` with the members of the form, and the value of the pressed button, when it is submitted. */
export function onSubmit(form: HTMLFormElement | null, work: Work, showOwnError?: ShowError): void {
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    clearErrors(form);
    // Otherwise a browser remembers the password as a text.
    for (const button of form.querySelectorAll<HTMLElement>(".reveal")) reveal(button, false);
    const missing = missingOf(form);
    const { submitter } = event;
    const action = submitter instanceof HTMLButtonElement ? submitter.value : "";
    if (missing.length > 0) showErrors(form, missing);
    else void run(form, () => work(membersOf(form), action), { button: submitter, showOwnError });
  });
}

/** Empties all forms of the page, and closes its sections. */
export function resetForms(): void {
  for (const form of document.forms) {
    form.reset();
    clearErrors(form);
  }
  for (const section of document.querySelectorAll("details")) section.open = false;
}

/** Called once per page. */
export function activateReveals(): void {
  for (const button of all(".reveal")) {
    reveal(button, false);
    button.addEventListener("click", () => {
      const input = button.previousElementSibling;
      reveal(button, input instanceof HTMLInputElement && input.type === "password");
    });
  }
}
