import { CliError, describeError, EXIT } from "@latchkey/cli";

/** Calls `open` with the address. @throws {CliError} if the port is not available */
export function listen<Listener>(
  variable: "PORT" | "METRICS_PORT" | "ADMIN_PORT",
  { host, port }: { readonly host: string; readonly port: number },
  open: (address: { readonly hostname: string; readonly port: number }) => Listener,
): Listener {
  try {
    return open({ hostname: host, port });
  } catch (error) {
    const isInUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    const reason = isInUse
      ? `another program uses it. Stop that one, or set another port, such as ${variable}=${(port % 65_535) + 1}`
      : describeError(error);
    const message = `${variable} ${port} on ${host} is not available: ${reason}`;
    throw new CliError(message, EXIT.osError);
  }
}
