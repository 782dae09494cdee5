/** TLS certificates for tests, created with `openssl`. Each call has its own certificate authority (CA). */
import { join } from "node:path";
import { $ } from "bun";

const isInstalled = Bun.which("openssl") !== null;
if (!isInstalled) process.stderr.write("Tests with openssl are skipped: it is not on the PATH.\n");

/** Whether tests that need `openssl` run; in CI they fail if it is missing. */
export const hasOpenssl = isInstalled || Boolean(process.env.CI);

export type ServerCertificate = Awaited<ReturnType<typeof createCertificate>>;

/**
 * Writes PEM files whose names begin with `name`. Returns the paths of the CA that clients must trust, of a certificate that is
 * valid only for the address 127.0.0.1, and of the certificate's key.
 */
export async function createCertificate(folder: string, name: string) {
  const path = (suffix: string) => join(folder, `${name}-${suffix}.pem`);
  const [caFile, caKey] = [path("ca"), path("ca-key")];
  const [certificateFile, keyFile] = [path("certificate"), path("key")];
  const create = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const issue = ["-CA", caFile, "-CAkey", caKey];
  const address = ["-addext", "subjectAltName=IP:127.0.0.1"];
  const leaf = ["-addext", "basicConstraints=critical,CA:FALSE"];
  await $`openssl ${create} -subj /CN=${`${name}-ca`} -keyout ${caKey} -out ${caFile}`.quiet();
  await $`openssl ${create} ${issue} ${address} ${leaf} -subj /CN=${name} -keyout ${keyFile} -out ${certificateFile}`.quiet();
  return { caFile, certificateFile, keyFile };
}
