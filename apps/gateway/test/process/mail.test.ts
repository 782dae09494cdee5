/** Mail of the whole process: STARTTLS with a login, and a restart of both replicas between the response and the mail. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createCertificate, hasOpenssl } from "@latchkey/testing/certificates";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { startMailServer } from "@latchkey/testing/mail-server";
import { post, startProcess } from "@latchkey/testing/service-process";
import { querySqlite } from "@latchkey/testing/sqlite";
import { newCredentials, SECRET_KEY } from "../support/service.ts";

inFullRun(test.skipIf(!hasOpenssl))(
  "a mail survives kill -9, is sent once over STARTTLS with a login, and needs a trusted certificate",
  async () => {
    await using folder = await openFolder();
    const trusted = await createCertificate(folder.path, "trusted");
    const other = await createCertificate(folder.path, "other");
    await using server = await startMailServer({ certificate: trusted });
    const variables = {
      DATABASE_URL: folder.databaseUrl,
      AUTH_SECRET_KEY: SECRET_KEY,
      MAIL_URL: server.url,
      MAIL_FROM: "accounts@example.com",
      PUBLIC_URL: "https://accounts.example.com",
      RATE_LIMIT_ENABLED: "false",
    };
    const { email, username, password } = newCredentials();
    {
      // Only a thread sends mails: an import of nodemailer into that of the requests ends this process.
      const main = join(import.meta.dir, "../support/without-optional-modules.ts");
      await using replica = startProcess({ ...variables, NODE_EXTRA_CA_CERTS: other.caFile }, { main });
      const url = await replica.ready();
      expect((await post(`${url}/auth/register`, { email, username, password })).status).toBe(201);
      const { reason } = await replica.line("mail.postponed");
      expect(reason).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
      expect((await post(`${url}/auth/password-reset`, { email })).status).toBe(202);
      replica.signal("SIGKILL");
      await replica.ended();
    }
    expect(server.received).toEqual([]);
    // As if the pause after the failed attempt were over.
    await querySqlite(folder.databaseUrl, "update outbox set next_attempt_at = created_at");
    await using stack = new AsyncDisposableStack();
    const env = { ...variables, NODE_EXTRA_CA_CERTS: trusted.caFile };
    const replicas = [0, 1].map(() => stack.use(startProcess(env)));
    await Promise.all(replicas.map((replica) => replica.ready()));
    const mails = await server.waitFor(2);
    expect(mails.map(({ recipients }) => recipients)).toEqual([[email], [email]]);
    expect(
      mails
        .map(({ message }) => /https:\/\/accounts.example.com\/account\/([a-z-]+)#/.exec(message)?.[1])
        .sort(),
    ).toEqual(["reset-password", "verify-email"]);
    for (const replica of replicas) replica.signal("SIGTERM");
    for (const replica of replicas) expect((await replica.ended()).code).toBe(0);
    expect(server.received).toHaveLength(2);
  },
);
