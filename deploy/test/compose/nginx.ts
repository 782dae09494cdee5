/** nginx: in front of the balancer, with the line of docs/production.md that passes the client's address, or of the replicas. */
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { ROOT } from "@latchkey/testing/repository";
import { freePort, untilOk } from "@latchkey/testing/server-process";
import { PATH, testWith } from "./balancer.ts";

export const nginxTest = testWith("haproxy", "nginx");

const guide = await Bun.file(join(ROOT, "docs/production.md")).text();
const [forwardedFor] = /proxy_set_header X-Forwarded-For [^`]*;/.exec(guide) ?? [];

const NGINX_CONFIGURATION = await Bun.file(join(ROOT, "deploy/nginx/latchkey.conf")).text();

/** Starts nginx with the content of its http context, in which `PORT` is a free port. Resolves once requests reach a replica. */
async function startWith(http: string) {
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
      ${http.replaceAll("PORT", String(port))}
    }`,
  );
  const command = ["nginx", "-p", folder.path, "-c", configuration];
  const nginx = resources.use(
    Bun.spawn(command, { env: { PATH }, stdio: ["ignore", "ignore", "inherit"], killSignal: "SIGKILL" }),
  );
  await untilOk(`http://127.0.0.1:${port}/healthz`, nginx);
  return Object.assign(resources.move(), { port });
}

/** Listens on 127.0.0.1 and ::1. */
export const startNginx = (balancerPort: number) =>
  startWith(`server {
    listen 127.0.0.1:PORT; listen [::1]:PORT;
    location / { proxy_pass http://127.0.0.1:${balancerPort}; ${forwardedFor} }
  }`);

interface ShippedNginxOptions {
  /** The `host:port` of each of the two replicas. */
  readonly addresses: readonly string[];
  /** Changes the configuration, for example a timeout. @default unchanged */
  readonly edit?: (configuration: string) => string;
}

/** nginx with `deploy/nginx/latchkey.conf`, on another port and with addresses instead of names. Listens on 127.0.0.1. */
export const startShippedNginx = ({ addresses, edit = (text) => text }: ShippedNginxOptions) =>
  startWith(
    edit(NGINX_CONFIGURATION)
      .replace("listen 8080", "listen 127.0.0.1:PORT")
      .replace(/replica-(\d):3000/g, (_, number: string) => addresses[Number(number) - 1] ?? ""),
  );
