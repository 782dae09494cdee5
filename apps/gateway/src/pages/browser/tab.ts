/**
 * The storage of the tab, which keeps the token and unfinished steps until log-out, or until the tab is closed: a reload loses
 * nothing. A browser that blocks the storage throws when it is used; then everything is in memory.
 */
const PREFIX = "latchkey ";

const clearing: (() => void)[] = [];

interface TabValue<Value> {
  read(): Value | null;
  /** @param value null: none */
  write(value: Value | null): void;
}

/** The cast is safe because only this page writes the key, with values of this type. */
export function createTabValue<Value>(name: string): TabValue<Value> {
  const key = PREFIX + name;
  /** Only if the storage cannot be used. */
  let inMemory: Value | null = null;
  const write = (value: Value | null): void => {
    inMemory = null;
    try {
      if (value === null) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, JSON.stringify(value));
    } catch {
      inMemory = value;
    }
  };
  clearing.push(() => write(null));
  return {
    read() {
      try {
        return inMemory ?? (JSON.parse(sessionStorage.getItem(key) ?? "null") as Value | null);
      } catch {
        return null;
      }
    },
    write,
  };
}

/** Whether the tab cannot keep a value, because the browser blocks the storage or it is full. */
export function isStorageBlocked(): boolean {
  const key = `${PREFIX}probe`;
  try {
    sessionStorage.setItem(key, "0".repeat(4096));
    sessionStorage.removeItem(key);
    return false;
  } catch {
    return true;
  }
}

/** Forgets everything that the pages and the client have kept. */
export function forgetTab(): void {
  for (const clear of clearing) clear();
  try {
    const keys = Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
    for (const key of keys) sessionStorage.removeItem(key);
  } catch {}
}

/** Said by the next page of this tab, once. */
export const notice = createTabValue<string>("notice");
/** The address to which this tab requested the reset of a password. */
export const requestedEmail = createTabValue<string>("requested e-mail");
/** How a user has logged in. Only with a password is it known that the user has one. */
export type Way = "password" | "passkey" | "code" | "provider";
/** A login that needs a code of the second factor, for five minutes. */
export const pendingFactor = createTabValue<{ readonly state: string; readonly way: Way }>("pending factor");
/** The address of a login for an application that has left for a provider or a forgotten password, and the provider's response. */
export const pendingAuthorization = createTabValue<{ readonly address: string; readonly response?: string }>(
  "pending authorization",
);
