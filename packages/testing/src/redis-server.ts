/** A Redis server for tests: the installed `redis-server`, without persistence. It can be frozen, killed and restarted. */
import type { ServerCertificate } from "./certificates.ts";
import { freePort, readUntil } from "./server-process.ts";

export type RedisServer = Awaited<ReturnType<typeof startRedisServer>>;

interface RedisServerOptions {
  /** Further options of the command line, such as `--cluster-enabled yes`. @default none */
  readonly args?: readonly string[];
  /** Further environment variables. @default none */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * @param certificate with one, the server accepts TLS connections only
 * @throws {Error} if `redis-server` is not installed (Debian's package has the same name)
 */
export async function startRedisServer(
  certificate?: ServerCertificate,
  { args = [], env = {} }: RedisServerOptions = {},
) {
  const port = freePort();
  // Port 0 turns off connections without TLS.
  const listen = certificate
    ? [
        ...["--port", "0", "--tls-port", `${port}`, "--tls-auth-clients", "no"],
        ...["--tls-cert-file", certificate.certificateFile, "--tls-key-file", certificate.keyFile],
        ...["--tls-ca-cert-file", certificate.caFile],
      ]
    : ["--port", `${port}`];
  const spawn = () =>
    Bun.spawn(
      ["redis-server", ...listen, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", ...args],
      {
        env: { ...process.env, ...env },
        stdout: "pipe",
        stderr: "ignore",
        killSignal: "SIGKILL",
      },
    );
  let server = spawn();
  const untilReady = () => readUntil(server.stdout, "Ready to accept connections");
  const kill = () => server[Symbol.asyncDispose]();
  await untilReady();
  return {
    url: `${certificate ? "rediss" : "redis"}://127.0.0.1:${port}`,
    /** Suspends the process until the result is disposed: connections stay open, but the server does not respond. */
    freeze(): Disposable {
      server.kill("SIGSTOP");
      return { [Symbol.dispose]: () => server.kill("SIGCONT") };
    },
    /** Ends the process with SIGKILL. */
    kill,
    /** Restarts an empty server on the same port. */
    start(): Promise<unknown> {
      server = spawn();
      return untilReady();
    },
    [Symbol.asyncDispose]: kill,
  };
}
