/** nginx in front of the balancer, with the line of docs/production.md that passes the client's address. */
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { ROOT } from "@latchkey/testing/repository";
import { freePort, untilOk } from "@latchkey/testing/server-process";
import { PATH, testWith } from "./balancer.ts";

export const nginxTest = testWith("haproxy", "nginx");

const guide = await Bun.file(join(ROOT, "docs/production.md")).text();
const [forwardedFor] = /proxy_set_header X-Forwarded-For [^`]*;/.exec(guide) ?? [];

/** Resolves once requests reach a replica. Listens on 127.0.0.1 and ::1. */
export async function startNginx(balancerPort: number) {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await openFolder());
  const port = freePort();
  const configuration = join(folder.path, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  await Bun.write(
    configuration,
    `daemon off; master_process off; pid nginx.pid; error_log stderr crit;
    events { worker_connections 4096; }
    http {
      access_log off; ${temporary.map((name) => `${name}_temp_path ${name};`).join(" ")}
      server {
        listen 127.0.0.1:${port}; listen [::1]:${port};
        location / { proxy_pass http://127.0.0.1:${balancerPort}; ${forwardedFor} }
      }
    }`,
  );
  const command = ["nginx", "-p", folder.path, "-c", configuration];
  const nginx = resources.use(
    Bun.spawn(command, { env: { PATH }, stdio: ["ignore", "ignore", "ignore"], killSignal: "SIGKILL" }),
  );
  await untilOk(`http://127.0.0.1:${port}/healthz`, nginx);
  return Object.assign(resources.move(), { port });
}
