/**
 * The base image of the Dockerfile, without a registry: this system's distribution from mmdebstrap, and the Bun that runs the
 * tests. It has the name and the user of the published image, whose distribution can be another one.
 */
import { copyFile, mkdir, rename, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Buildah, print } from "./buildah.ts";

/** Keeps the distribution's files: only the first build on a machine downloads them. */
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "latchkey");

export async function createBaseImage(buildah: Buildah, name: string): Promise<void> {
  const container = await buildah.run("from", "scratch");
  const root = await buildah.run("mount", container);
  await createDistribution(root);
  await copyFile(process.execPath, join(root, "usr/local/bin/bun"));
  await symlink("bun", join(root, "usr/local/bin/bunx"));
  await print("chroot", root, "useradd", "--uid=1000", "--create-home", "bun");
  await buildah.run("unmount", container);
  await buildah.run("commit", "--disable-compression", "--rm", container, name);
}

async function createDistribution(root: string): Promise<void> {
  const suite = await print("sh", "-c", '. /etc/os-release && echo "$VERSION_CODENAME"');
  const tarball = join(CACHE, `${suite}.tar`);
  if (!(await Bun.file(tarball).exists())) {
    await mkdir(CACHE, { recursive: true });
    const partial = join(CACHE, `${process.pid}.tar`);
    // As in published images, dpkg does not wait for the disk.
    const options = ["--variant=apt", "--include=passwd", "--dpkgopt=force-unsafe-io"];
    await print("mmdebstrap", ...options, suite, partial, ...(await mirrorOf(suite)));
    await rename(partial, tarball);
  }
  await print("tar", "--extract", `--directory=${root}`, `--file=${tarball}`);
}

/** The mirror of this system; empty, which means that of the distribution, if it is not an HTTP server. */
async function mirrorOf(suite: string): Promise<string[]> {
  const format = "--format=$(REPO_URI) $(RELEASE)";
  const targets = await print("apt-get", "indextargets", format, "Created-By: Packages");
  const pairs = targets.split("\n").map((line) => line.split(" "));
  return pairs
    .flatMap(([uri = "", release]) => (uri.startsWith("http:") && release === suite ? [uri] : []))
    .slice(0, 1);
}
