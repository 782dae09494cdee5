/**
 * Every way to log in, and the registration. It shows one step at a time: the login, the registration, the code of a second factor, or
 * the hint to confirm the address. The service writes the elements (`pages/login.ts`), and omits those of ways that are off.
 */
import { type Client, LatchkeyError } from "@latchkey/client";
import { codeOf, type Members, onSubmit, PageError, run, showErrors } from "./forms.ts";
import { all, find, findForm, get, HERE, locale, setText, texts, wait } from "./page.ts";
import { isStorageBlocked, pendingFactor, type Way } from "./tab.ts";

type Step = "login" | "register" | "factor" | "confirm";
const STEPS: readonly Step[] = ["login", "register", "factor", "confirm"];

interface LoginOptions {
  readonly client: Client;
  /** Continues after a login, whose token the client has. An error is shown in the form of the login. */
  readonly onLogin: (way: Way, isNew: boolean) => Promise<void>;
  /** Whether the page begins with the registration. */
  readonly isRegistration?: boolean;
  /** The page to which providers send users. @default this page */
  readonly providerPage?: string;
  /** Called before the tab leaves the page for a provider. */
  readonly onLeave?: () => void;
}

export type Login = ReturnType<typeof startLogin>;

/** The fragments of the address that choose between registration and login. */
const REGISTRATION = "#create";
const LOGIN = "#login";

export function startLogin(options: LoginOptions) {
  const { client, onLogin, isRegistration = false, providerPage = HERE, onLeave } = options;
  const loginForm = get<HTMLFormElement>("login-form");

  const show = (step: Step): void => {
    const shown = find(step) ? step : "login";
    for (const name of STEPS) {
      const place = find(name);
      if (place) place.hidden = name !== shown;
    }
    get("visitor").hidden = false;
  };
  const first = (): Step => {
    if (pendingFactor.read()) return "factor";
    const registers = location.hash === REGISTRATION || (isRegistration && location.hash !== LOGIN);
    return registers ? "register" : "login";
  };
  const begin = (): void => {
    pendingFactor.write(null);
    show(first());
  };

  /** Asks for a code if the user has a second factor. */
  const finish = async (way: Way, login: () => Promise<unknown>, isNew = false): Promise<void> => {
    try {
      await login();
    } catch (error) {
      const isAsked = error instanceof LatchkeyError && error.code === "SECOND_FACTOR_REQUIRED";
      if (!isAsked || !find("factor")) throw error;
      pendingFactor.write({ state: error.state ?? "", way });
      show("factor");
      get("factor-code").focus();
      return;
    }
    pendingFactor.write(null);
    await onLogin(way, isNew);
  };

  const logIn = ({ email = "", password = "" }: Members) =>
    finish("password", () => client.login({ email, password }));

  onSubmit(loginForm, logIn);

  onSubmit(
    findForm("factor-form"),
    async ({ code = "" }) => {
      const pending = pendingFactor.read();
      if (!pending) throw new PageError("LOGIN_REQUIRED");
      await finish(pending.way, () => client.factor.login(pending.state, code));
    },
    (error) => {
      if (codeOf(error) !== "LOGIN_REQUIRED") return false;
      begin();
      showErrors(loginForm, [], texts.ended);
      return true;
    },
  );
  find("factor-cancel")?.addEventListener("click", () => {
    begin();
    get("email").focus();
  });

  onSubmit(findForm("register-form"), async ({ email = "", username = "", password = "" }) => {
    await client.register({ email, username, password, ...(locale !== undefined && { locale }) });
    try {
      await finish("password", () => client.login({ email, password }), true);
    } catch (error) {
      if (codeOf(error) !== "EMAIL_NOT_VERIFIED") throw error;
      setText("confirm-email", email);
      show("confirm");
      get("confirm").focus();
    }
  });

  const passkey = find("passkey");
  passkey?.addEventListener("click", () =>
    run(loginForm, () => finish("passkey", () => client.passkeys.login()), { button: passkey }),
  );

  startCodeLogin(client, (login) => finish("code", login));
  find("code-section")?.addEventListener("toggle", () => {
    const email = get<HTMLInputElement>("code-email");
    email.value ||= get<HTMLInputElement>("email").value;
  });

  /** The buttons are shown if providers can send users to this page. */
  for (const button of all("[data-provider]")) {
    const { provider = "", pages = "" } = button.dataset;
    button.hidden = !pages.split(" ").includes(providerPage);
    if (button.dataset.use !== "login") continue;
    const form = button.closest("#register")?.querySelector("form") ?? loginForm;
    const begin = async (): Promise<void> => {
      onLeave?.();
      await beginProvider(client, provider, { page: providerPage });
    };
    button.addEventListener("click", () => run(form, begin, { button }));
  }

  addEventListener("hashchange", () => {
    if (get("visitor").hidden) return;
    begin();
    find(location.hash === REGISTRATION ? "register-email" : "email")?.focus();
  });

  return {
    form: loginForm,
    /** Shows the step with which the tab goes on. */
    show: () => show(first()),
    hide: () => {
      get("visitor").hidden = true;
      if (location.hash === REGISTRATION) history.replaceState(null, "", location.pathname + location.search);
    },
    /** Ends a login at a provider, with the address to which it has sent the user. */
    finishProvider: (address: string) =>
      run(loginForm, async () => {
        try {
          await wait(() =>
            finish("provider", () => explainProvider(address, () => client.oidc.finish(address))),
          );
        } catch (error) {
          show(first());
          throw error;
        }
      }),
  };
}

/** Leaves the page. The tab keeps what ends the login. */
export async function beginProvider(
  client: Client,
  provider: string,
  { page = HERE, currentPassword }: { page?: string; currentPassword?: string | undefined } = {},
): Promise<void> {
  if (isStorageBlocked()) throw new PageError("STORAGE_BLOCKED");
  location.assign(await client.oidc.begin(provider, page, { currentPassword }));
}

/** A provider sends an error instead of a code if the user has cancelled, and some send it without the state. */
export async function explainProvider<Result>(
  address: string,
  finish: () => Promise<Result>,
): Promise<Result> {
  try {
    return await finish();
  } catch (error) {
    if (!new URL(address).searchParams.has("code")) throw new PageError("IDENTITY_REJECTED");
    throw error;
  }
}

/** The login with a mailed code. After a reload, the code can still be entered. */
function startCodeLogin(client: Client, finish: (login: () => Promise<unknown>) => Promise<void>): void {
  const requestForm = findForm("code-request-form");
  const codeForm = findForm("code-form");
  if (!requestForm || !codeForm) return;
  onSubmit(requestForm, async ({ email = "" }) => {
    await client.emailLogin(email);
    codeForm.hidden = false;
    get("code").focus();
  });
  onSubmit(codeForm, async ({ code = "" }) => {
    const login = await client.begunEmailLogin();
    if (!login) throw new PageError("LOGIN_CODE_INVALID");
    await finish(() => login.finish(code));
    codeForm.hidden = true;
  });
  void client.begunEmailLogin().then((login) => {
    if (!login) return;
    get<HTMLInputElement>("code-email").value = login.email;
    get<HTMLDetailsElement>("code-section").open = true;
    codeForm.hidden = false;
  });
}
