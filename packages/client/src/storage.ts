/**
 * Storage of the token that cannot lose a login: after a failure, the token is only in memory. Many environments have no usable
 * storage, such as server rendering, private windows and Node 25, whose `localStorage` can lack its methods.
 */

type Text = string | null | undefined;

/** The part of `localStorage` that the client uses. The methods can return promises, as those of React Native's storage do. */
export interface TokenStorage {
  getItem(key: string): Text | Promise<Text>;
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
}

/** A function is called once, when the token is first needed. If it throws or returns no storage, the token is only in memory. */
export type StorageOption = TokenStorage | (() => TokenStorage | null | undefined);

/** The tab's storage, or none outside of browsers: that of Node 25 is shared by all users of a server. */
export const tabStorage: StorageOption = () => ("document" in globalThis ? sessionStorage : undefined);

const METHODS = ["getItem", "setItem", "removeItem"] as const;

/** One text in a storage. No method throws or rejects. */
export function createStoredText(option: StorageOption | undefined, key: string) {
  let isOpened = false;
  let storage: TokenStorage | undefined;
  let isAsynchronous = false;
  /** The last write of an asynchronous storage. Writes keep their order. */
  let written: Promise<unknown> | undefined;

  const open = (): TokenStorage | undefined => {
    if (isOpened) return storage;
    isOpened = true;
    try {
      const opened = typeof option === "function" ? option() : option;
      if (opened && METHODS.every((method) => typeof opened[method] === "function")) storage = opened;
    } catch {}
    return storage;
  };
  const giveUp = (): undefined => {
    storage = undefined;
  };
  const put = (text: string | null): unknown =>
    text === null ? open()?.removeItem(key) : open()?.setItem(key, text);
  /** A later visit must not find the token that `put` could not replace. */
  const giveUpWriting = async (): Promise<void> => {
    const failed = storage;
    giveUp();
    try {
      await failed?.removeItem(key);
    } catch {}
  };

  return {
    /** Whether other tabs read the text at once. */
    get isShared() {
      return open() !== undefined && !isAsynchronous;
    },
    /** Returns null if no text is stored; undefined if there is no usable storage. Asynchronous storage returns a promise. */
    read(): Text | Promise<Text> {
      try {
        const text = open()?.getItem(key);
        if (!isPromise(text)) return storage && (text ?? null);
        isAsynchronous = true;
        return text.then((value) => value ?? null, giveUp);
      } catch {
        return giveUp();
      }
    },
    /** Asynchronous storage returns a promise. @param text null: none */
    write(text: string | null): Promise<unknown> | undefined {
      try {
        const result = written ? written.then(() => put(text)) : put(text);
        if (isPromise(result)) written = result.then(undefined, giveUpWriting);
      } catch {
        void giveUpWriting();
      }
      return written;
    },
  };
}

/**
 * What the tab keeps between two pages of a login. Without a storage, it is kept in memory. The cast is safe because only one module
 * writes the key, with values of this type.
 */
export function createStoredLogin<Login extends object>(option: StorageOption, key: string) {
  const stored = createStoredText(option, key);
  let inMemory: Login | null = null;
  return {
    async read(): Promise<Login | null> {
      const text = inMemory ? null : await stored.read();
      return inMemory ?? (text ? (JSON.parse(text) as Login) : null);
    },
    /** @param login null: none */
    async write(login: Login | null): Promise<void> {
      inMemory = login;
      await stored.write(login && JSON.stringify(login));
    },
  };
}

/** Not by class: a storage can come from another realm, as in Jest. */
export const isPromise = <Value>(value: Value | Promise<Value>): value is Promise<Value> =>
  typeof value === "object" && value !== null && "then" in value;
