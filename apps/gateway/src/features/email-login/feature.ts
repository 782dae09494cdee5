/** The feature "logins with codes by mail" for the server. */
import { sendsMail } from "@latchkey/config";
import { optionalFeature } from "../optional-feature.ts";

export const emailLoginFeature = optionalFeature({
  name: "emailLogin",
  loginMethod: "code",
  example: { AUTH_EMAIL_LOGIN: "true" },
  settings: (variables) => (variables.AUTH_EMAIL_LOGIN && sendsMail(variables) ? {} : null),
  async open(_settings, { database, keys, login, networkDigestOf }) {
    const { emailLoginOperations } = await import("./operations.ts");
    const { emailLoginPages } = await import("./pages.ts");
    const { createEmailLogin } = await import("./service.ts");
    const { users, factors, outbox } = database;
    const { loginCodes } = keys;
    const emailLogin = createEmailLogin({ users, factors, outbox, loginCodes, networkDigestOf });
    return { operations: emailLoginOperations(emailLogin, login), pages: emailLoginPages };
  },
});
