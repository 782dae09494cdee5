/** The arguments of `bun run test`: `--full`, folders of packages, test files, and flags that turbo gets. */
import { relative, resolve } from "node:path";

export interface TestArguments {
  readonly isFull: boolean;
  readonly turboFlags: readonly string[];
  /** The files of each named package, relative to its folder; none: all. Empty if no package is named. */
  readonly selected: ReadonlyMap<string, readonly string[]>;
}

/**
 * @param options.folders of all packages with tests, from the root
 * @throws {Error} if an argument is neither a package nor a file of one
 */
export function parseArguments(
  args: readonly string[],
  {
    root,
    folders,
    exists,
  }: {
    readonly root: string;
    readonly folders: readonly string[];
    readonly exists: (path: string) => boolean;
  },
): TestArguments {
  const selected = new Map<string, string[]>();
  const isFlag = (argument: string) => argument.startsWith("-");
  for (const argument of args.filter((argument) => !isFlag(argument))) {
    const path = relative(root, resolve(root, argument));
    const folder = folders.find((candidate) => path === candidate || path.startsWith(`${candidate}/`));
    if (folder === undefined || !exists(resolve(root, path)))
      throw new Error(`${argument} is neither a package with tests nor a file of one`);
    const files = selected.get(folder) ?? [];
    selected.set(folder, path === folder ? files : [...files, relative(folder, path)]);
  }
  const turboFlags = args.filter((argument) => isFlag(argument) && argument !== "--full");
  if (selected.size > 0 && turboFlags.length > 0)
    throw new Error(
      `${turboFlags.join(" ")} is a flag of turbo, which does not run single packages or files`,
    );
  return { isFull: args.includes("--full"), turboFlags, selected };
}
