/**
 * Runs the tests of all packages with turbo, then prints the totals of each package and, last, the failed tests. Each package
 * writes its results as JUnit XML; turbo restores those of a cached package.
 *
 * bun run test [--full] [PACKAGE | FILE]... [FLAG OF TURBO]...
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, statSync } from "node:fs";
import { freemem } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { parseArguments } from "./test-arguments.ts";
import { parseResults } from "./test-results.ts";

const ROOT = resolve(import.meta.dir, "..");

const folders: string[] = [];
for (const pattern of ["apps/*", "packages/*", "deploy", "scripts"])
  for (const path of [...new Bun.Glob(`${pattern}/package.json`).scanSync(ROOT)].sort())
    if ((await Bun.file(join(ROOT, path)).json()).scripts?.test) folders.push(dirname(path));
