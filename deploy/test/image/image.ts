/**
 * The image of the Dockerfile, built from a copy of the checkout, and its programs as containers: process 1 of its own
 * namespace, with the image's user and environment and no capabilities, on a read-only file system with one volume and /tmp.
 * There is no engine: the network and the process limits are those of this machine.
 */
import { join } from "node:path";
import { childOf } from "@latchkey/testing/process-1";
import { ROOT } from "@latchkey/testing/repository";
import { createBaseImage } from "./base-image.ts";
import { openBuildah, print } from "./buildah.ts";

export const DOCKERFILE = await Bun.file(join(ROOT, "apps/gateway/Dockerfile")).text();

/** The part of Docker's image configuration that this project sets. */
interface ImageConfig {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly Cmd: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

export type Image = Awaited<ReturnType<typeof buildImage>>;

/** Mounts have an effect only in the new namespace. The arguments are the root folder, the user and the command. */
const RUN = `
root=$1 user=$2; shift 2
mount --bind "$root" "$root"
mount --bind "$root/data" "$root/data"
mount -o remount,bind,ro "$root"
mount -t tmpfs tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
exec chroot "$root" setpriv --reuid="\${user%:*}" --regid="\${user#*:}" --clear-groups --no-new-privs --bounding-set=-all \\
  env --ignore-environment "$@"`;

/** @param context A copy of the checkout; an additional Dockerfile is written next to it */
export async function buildImage(context: string) {
  await using resources = new AsyncDisposableStack();
  const buildah = resources.use(await openBuildah());
  const [, baseName = ""] = /^FROM (\S+) AS base$/m.exec(DOCKERFILE) ?? [];
  await createBaseImage(buildah, baseName);
  await buildah.build({ context, dockerfile: join(context, "apps/gateway/Dockerfile"), tag: "latchkey" });

  const inspected = await buildah.run("inspect", "--type=image", "latchkey");
  const { config }: { config: ImageConfig } = JSON.parse(inspected).Docker;
  /** The folder that contains the image's files. */
  const root = await buildah.mount("latchkey");
  /** Bytes of all files that the base image does not contain. */
  const addedBytes = (await bytesOf(root)) - (await bytesOf(await buildah.mount(baseName)));

  const containers = resources.use(new AsyncDisposableStack());
  /** Runs a command as a container. */
  const start = (command: readonly string[], own: Readonly<Record<string, string>> = {}, input?: Blob) => {
    const variables = Object.entries(own).map(([name, value]) => `${name}=${value}`);
    const isolated = [..."unshare --mount --pid --fork --kill-child sh -ec".split(" "), RUN, "sh", root];
    const child = containers.use(
      Bun.spawn(
        [...isolated, config.User, `--chdir=${config.WorkingDir}`, ...config.Env, ...variables, ...command],
        { stdin: input ?? "ignore", stdout: "pipe", stderr: "pipe", killSignal: "SIGKILL" },
      ),
    );
    const errors = new Response(child.stderr).text();
    return {
      stdout: child.stdout,
      kill: (signal: NodeJS.Signals) => void process.kill(childOf(child), signal),
      /** Resolves with the exit code and the standard error. */
      ended: async () => ({ code: await child.exited, errors: await errors }),
    };
  };
  /** Paths of all files in the build context. */
  const listContext = async () => {
    const dockerfile = `${context}.Dockerfile`;
    await Bun.write(dockerfile, "FROM scratch\nCOPY . /\n");
    await buildah.build({ context, dockerfile, tag: "context" });
    const files = await print("find", await buildah.mount("context"), "-type", "f", "-printf", "%P\\n");
    return files.split("\n");
  };
  return Object.assign(resources.move(), { config, root, addedBytes, start, listContext });
}

async function bytesOf(folder: string): Promise<number> {
  const sizes = await print("find", folder, "-xdev", "-type", "f", "-printf", "%s\\n");
  return sizes.split("\n").reduce((sum, size) => sum + Number(size), 0);
}
