// Starts everything: a service of tests, whose users are gone when it ends, the resource server, and the server in between.
import { execFile, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { parseEnv, promisify } from "node:util";
import { createAdminClient } from "@latchkey/client/admin";

/** The folder of the service. */
const { LATCHKEY: cwd = "../..", PORT = "8080", API_PORT = "8000" } = process.env;
if (!existsSync(`${cwd}/bun.lock`)) throw new Error("Set LATCHKEY to the path of the repository of Latchkey");
const BUN = ["-y", "bun@1.4.5"];
const children = new Set();

function run(command, args, options) {
  // In a group of its own, because npx starts the service in another process.
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"], detached: true, ...options });
  children.add(child);
  // One that ends by itself, for example because its port is in use, ends the others.
  child.once("exit", () => children.delete(child) && process.exit(1));
  return child;
}

export function stop() {
  for (const child of children) {
    children.delete(child);
    process.kill(-child.pid);
  }
}

async function startService(readKey) {
  const variables = await readFile(new URL("service.env", import.meta.url), "utf8");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const env = {
    ...process.env,
    ...parseEnv(variables.replaceAll("localhost:8080", `localhost:${PORT}`)),
    AUTH_PRIVATE_KEY: privateKey.export({ type: "pkcs8", format: "pem" }),
    ADMIN_READ_KEYS: `mirror:${readKey}`,
    // The variables of a service of yours, in the same folder, are not for this one.
    BUN_OPTIONS: "--no-env-file",
  };
  const [line] = await once(
    createInterface(run("npx", [...BUN, "start", "--ephemeral"], { cwd, env }).stdout),
    "line",
  );
  const started = JSON.parse(line);
  const options = { cwd, env: { ...env, DATABASE_URL: started.database } };
  await promisify(execFile)("npx", [...BUN, "run", "admin", "events", "on"], options);
  return started;
}

process.on("exit", stop);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit());

const readKey = randomBytes(32).toString("hex");
const { url, outbox, administration } = await startService(readKey);
const baseUrl = new URL(administration.url).origin;
const env = {
  ...process.env,
  LATCHKEY_URL: url,
  LATCHKEY_ADMIN_URL: baseUrl,
  LATCHKEY_ADMIN_KEY: administration.key,
  LATCHKEY_READ_KEY: readKey,
  API_URL: `http://127.0.0.1:${API_PORT}`,
};
const servers = ["api.mjs", "server.mjs"].map((file) =>
  run(process.execPath, [file], { cwd: import.meta.dirname, env }),
);
// Each prints a line when it listens.
await Promise.all(servers.map(({ stdout }) => once(createInterface(stdout), "line")));

export const admin = createAdminClient({ baseUrl, apiKey: administration.key });
const [email, password] = ["ada@example.com", "correct horse battery staple"];
await admin.createUser({ email, username: "ada", password, roles: ["admin"], email_verified: true });
const app = `http://localhost:${PORT}`;
process.stdout.write(`${app}: log in as ${email} with ${password}\nMails: ${outbox}\n`);

export { app, outbox, url };
