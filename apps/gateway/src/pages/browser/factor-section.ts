/**
 * The second factor of the user. The tab keeps an enrolment until it is confirmed, and recovery codes until the user has saved them,
 * because the service never shows either again. Invariant: what the tab keeps of one user is never shown to another one.
 */
import { LatchkeyError } from "@latchkey/client";
import { dateOf, fill, find, findForm, get, setHidden, setText, texts, unbroken } from "./page.ts";
import { claimsOf } from "./session.ts";
import { createTabValue } from "./tab.ts";
import { type Section, say, type UserView } from "./user-view.ts";

interface Enrolment {
  readonly secret: string;
  readonly uri: string;
  readonly state: string;
}

interface Unfinished {
  /** The user. */
  readonly subject: string | undefined;
  readonly enrolment?: Enrolment;
  readonly recoveryCodes?: readonly string[];
}

const unfinished = createTabValue<Unfinished>("factor");

/** Groups of four are easier to type. */
const grouped = (text: string): string => text.match(/.{1,4}/g)?.join(" ") ?? text;

/** @param onDone called once the user has saved the recovery codes. @default the section shows the second factor */
export function createFactorSection(
  { client, onChange }: UserView,
  logOut: (reason: string) => void,
  onDone?: () => void,
): Section {
  const section = find<HTMLDetailsElement>("factor-section");
  if (!section) return {};

  const subject = (): string | undefined => claimsOf(client.token).sub;
  const read = (): Partial<Unfinished> => {
    const kept = unfinished.read();
    return kept && kept.subject === subject() ? kept : {};
  };
  const keep = (step: Omit<Unfinished, "subject">): void => unfinished.write({ subject: subject(), ...step });

  /** The step that is shown: what the tab has not finished, or what the service knows. */
  const showStep = (isOn: boolean): void => {
    const { recoveryCodes: codes, enrolment: begun } = read();
    setHidden("recovery", !codes);
    setHidden("factor-create", !begun);
    setHidden("factor-begin-form", Boolean(codes || begun || isOn));
    setHidden("factor-on", Boolean(codes || begun) || !isOn);
    get("recovery-list").replaceChildren(...(codes ?? []).map(codeItem));
    setText("factor-secret", begun ? grouped(begun.secret) : "");
    get<HTMLAnchorElement>("factor-open").href = begun?.uri ?? "";
    get("factor-qr").replaceChildren();
    if (begun) void drawCode(begun.uri);
    if (codes || begun) section.open = true;
  };

  let isOn = false;
  const show = async (): Promise<void> => {
    const factor = await client.factor.get().catch((error) => {
      if (error instanceof LatchkeyError && error.code === "FACTOR_NOT_FOUND") return null;
      throw error;
    });
    isOn = factor !== null;
    setText("factor-value", isOn ? texts.on : texts.off);
    const since = factor && { created: dateOf(factor.created_at), count: factor.recovery_codes_left };
    setText("factor-state", since ? fill(texts.factorSince, since) : "");
    showStep(isOn);
  };

  /** Leaves the section open and shows the codes, which the success above everything would be too far from on a phone. */
  const showCodes = async (recoveryCodes: readonly string[], success: string): Promise<undefined> => {
    keep({ recoveryCodes });
    for (const id of ["factor-create-form", "factor-form-on"]) findForm(id)?.reset();
    await show();
    setText("status", unbroken(success));
    get("recovery").focus();
  };

  const begin = async (currentPassword: string | undefined, code?: string): Promise<undefined> => {
    const { secret, uri, state } = await client.factor.begin({
      currentPassword,
      ...(code !== undefined && { code }),
    });
    keep({ enrolment: { secret, uri, state } });
    showStep(isOn);
    get("factor-create").focus();
  };

  onChange("factor-begin-form", ({ current_password }) => begin(current_password));

  onChange("factor-create-form", async ({ code = "", email_code }) => {
    const state = read().enrolment?.state ?? "";
    const codes = await client.factor.create({ state, code, emailCode: email_code });
    return showCodes(codes, texts.factorCreated);
  });

  find("factor-cancel-enrolment")?.addEventListener("click", () => {
    unfinished.write(null);
    showStep(isOn);
    section.querySelector<HTMLElement>("summary")?.focus();
  });

  onChange("factor-form-on", async ({ current_password: currentPassword, code = "" }, action) => {
    if (action === "replace") return begin(currentPassword, code);
    if (action === "remove") {
      await client.factor.remove({ currentPassword, code });
      logOut(texts.factorRemoved);
      return undefined;
    }
    const codes = await client.factor.createRecoveryCodes({ currentPassword, code });
    return showCodes(codes, texts.recoveryCodesMade);
  });

  const textOfCodes = (): string => `${(read().recoveryCodes ?? []).map(grouped).join("\n")}\n`;
  const copy = find("recovery-copy");
  if (copy) {
    // Missing where the page is neither https nor on this machine.
    copy.hidden = !navigator.clipboard;
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(textOfCodes());
      say(texts.copied);
    });
  }
  find("recovery-download")?.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([textOfCodes()], { type: "text/plain" }));
    link.download = texts.recoveryFile;
    link.click();
    URL.revokeObjectURL(link.href);
  });
  find("recovery-print")?.addEventListener("click", () => print());
  find("recovery-done")?.addEventListener("click", () => {
    unfinished.write(null);
    if (onDone) return onDone();
    showStep(isOn);
    section.querySelector<HTMLElement>("summary")?.focus();
  });

  return {
    show,
    clear() {
      unfinished.write(null);
      isOn = false;
      showStep(false);
      setText("factor-value", "");
      setText("factor-state", "");
    },
  };
}

function codeItem(code: string): HTMLElement {
  const item = document.createElement("li");
  const text = document.createElement("code");
  text.textContent = grouped(code);
  item.append(text);
  return item;
}

/** Only an enrolment needs the library. The path of its script is in the page, because the name contains its hash. */
async function drawCode(uri: string): Promise<void> {
  const place = get("factor-qr");
  const { src = "" } = place.dataset;
  const { drawQrCode }: typeof import("./qr-code.ts") = await import(new URL(src, location.href).href);
  place.replaceChildren(drawQrCode(uri, texts.qrCode));
}
