/** Builds images with buildah, which needs no engine: its own temporary storage, and commands isolated by chroot. */
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { runProcess } from "@latchkey/testing/run-process";

export type Buildah = Awaited<ReturnType<typeof openBuildah>>;

/** Returns the standard output. @throws Error with all output if the program fails */
export async function print(...command: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runProcess(command);
  if (code !== 0) throw new Error(`${command.join(" ")} failed:\n${stdout}${stderr}`);
  return stdout.trim();
}

export async function openBuildah() {
  const folder = await openFolder();
  const storage = ["--root", join(folder.path, "root"), "--runroot", join(folder.path, "run")];
  const run = (...args: readonly string[]) => print("buildah", ...storage, ...args);
  return {
    /** Returns the standard output of `buildah`. @throws Error with all output if it fails */
    run,
    /** Builds an image; no layer is cached. @throws Error with the output of the failed step */
    async build({ context, dockerfile, tag }: Readonly<Record<"context" | "dockerfile" | "tag", string>>) {
      const cache = await print(process.execPath, "pm", "cache");
      // Packages that were downloaded before, and certificate authorities.
      const volumes = [`${cache}:/root/.bun/install/cache`, "/etc/ssl/certs:/etc/ssl/certs:ro"];
      const options = ["--isolation=chroot", "--pull-never", "--format=docker", "--disable-compression"];
      const mounts = volumes.flatMap((volume) => ["--volume", volume]);
      await run("build", ...options, ...mounts, "--file", dockerfile, "--tag", tag, context);
    },
    /** Mounts the files of an image, and returns their folder. */
    mount: async (image: string) => run("mount", await run("from", "--pull-never", image)),
    async [Symbol.asyncDispose]() {
      await run("rm", "--all");
      await run("rmi", "--all", "--force");
      await folder[Symbol.asyncDispose]();
    },
  };
}
