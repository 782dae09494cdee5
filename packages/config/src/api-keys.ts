/** The keys of the programs that administer the service. No message contains a key. */
import { invalid, type Kind } from "./variable-kinds.ts";

export interface ApiKey {
  /** Names the program in the log. Two keys can have one name, while a key is replaced. */
  readonly name: string;
  readonly key: string;
}

const PAIR = /^([A-Za-z0-9_.-]{1,64}):([A-Za-z0-9_-]{32,})$/;

export const apiKeys: Kind<readonly ApiKey[]> = {
  accepted:
    "NAME:KEY pairs, separated by commas; a KEY has at least 32 of the characters A-Z a-z 0-9 _ -, such as the output of `openssl rand -hex 32`",
  parse: (text) =>
    text.split(",").map((pair) => {
      const [, name, key] = PAIR.exec(pair.trim()) ?? [];
      return name !== undefined && key !== undefined ? { name, key } : invalid();
    }),
};
