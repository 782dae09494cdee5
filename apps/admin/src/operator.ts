/** Names the operator in log lines. */
import { readFileSync } from "node:fs";
import type { Variables } from "./environment.ts";

/**
 * Returns `cli:` and the name of the user who called sudo, or of this process's user. In a container, whose users often have no
 * name, this is the uid.
 */
export const actorOf = ({ SUDO_USER, USER }: Variables): string =>
  `cli:${SUDO_USER || findName(process.getuid?.() ?? -1) || USER || process.getuid?.()}`;

/** Bun's `userInfo` returns the variable USER, which services and cron do not set. */
function findName(uid: number): string | undefined {
  try {
    const entries = readFileSync("/etc/passwd", "utf8").split("\n");
    return entries.map((entry) => entry.split(":")).find(([, , id]) => id === String(uid))?.[0];
  } catch {
    return undefined;
  }
}
