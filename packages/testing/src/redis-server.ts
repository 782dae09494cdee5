/** A Redis server for tests: the installed `redis-server`, without persistence. It can be frozen, killed and restarted. */
import type { ServerCertificate } from "./certificates.ts";
import { freePort, readUntil } from "./server-process.ts";

export type RedisServer = Awaited<ReturnType<typeof startRedisServer>>;

/**
 * @param certificate with one, the server accepts TLS connections only
 * @throws {Error} if `redis-server` is not installed (Debian's package has the same name)
 */
export async function startRedisServer(certificate?: ServerCertificate) {
  const program = Bun.which("redis-server");
  if (program === null) throw new Error("`redis-server` is not on the PATH");
  const port = freePort();
  const listen = certificate ? tlsArguments(port, certificate) : ["--port", String(port)];
  const spawn = () =>
    Bun.spawn([program, ...listen, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"], {
      stdout: "pipe",
      stderr: "ignore",
    });
  let server = spawn();

  /** Restarts an empty server on the same port. */
  const start = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) server = spawn();
    await readUntil(server.stdout, "Ready to accept connections");
  };
  /** Ends the process with SIGKILL. */
  const kill = async (): Promise<void> => {
    server.kill("SIGKILL");
    await server.exited;
  };
  await start();
  return {
    url: `${certificate ? "rediss" : "redis"}://127.0.0.1:${port}`,
    /** Suspends the process until the result is disposed: connections stay open, but the server does not respond. */
    freeze(): Disposable {
      server.kill("SIGSTOP");
      return { [Symbol.dispose]: () => server.kill("SIGCONT") };
    },
    kill,
    start,
    [Symbol.asyncDispose]: kill,
  };
}

/** Port 0 turns off connections without TLS. */
const tlsArguments = (port: number, { caFile, certificateFile, keyFile }: ServerCertificate): string[] => [
  ...["--port", "0", "--tls-port", String(port), "--tls-auth-clients", "no"],
  ...["--tls-cert-file", certificateFile, "--tls-key-file", keyFile, "--tls-ca-cert-file", caFile],
];
