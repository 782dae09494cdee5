/** Iteration over pages. A generator would end at the first error, so the caller could not repeat the page that failed. */

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/** After an error, `next` requests the same page again. @param cursor of the first page; undefined: the beginning */
export function iteratePages<P extends Page<unknown>>(
  request: (cursor: string | undefined) => Promise<P>,
  cursor: string | undefined,
): AsyncGenerator<P, void, undefined> {
  let following: string | null | undefined = cursor;
  return iterate(async () => {
    if (following === null) return undefined;
    const page = await request(following);
    following = page.next_cursor;
    return { value: page };
  });
}

export function iterateItems<Item>(
  pages: AsyncGenerator<Page<Item>, void, undefined>,
): AsyncGenerator<Item, void, undefined> {
  let items: readonly Item[] = [];
  let index = 0;
  return iterate(async () => {
    while (index >= items.length) {
      const { value, done } = await pages.next();
      if (done) return undefined;
      items = value.items;
      index = 0;
    }
    return { value: items[index++] as Item };
  });
}

/** @param advance returns the next value; undefined at the end. It is not called again until its promise has settled */
function iterate<Value>(
  advance: () => Promise<{ readonly value: Value } | undefined>,
): AsyncGenerator<Value, void, undefined> {
  const end = { done: true, value: undefined } as const;
  let isOver = false;
  let last: Promise<unknown> = Promise.resolve();
  const step = async (): Promise<IteratorResult<Value, void>> => {
    const next = isOver ? undefined : await advance();
    isOver ||= next === undefined;
    return next ? { done: false, value: next.value } : end;
  };
  // The prototype has the other members of an iterator.
  const generator: AsyncGenerator<Value, void, undefined> = (async function* () {})();
  return Object.assign(generator, {
    next() {
      const result = last.then(step, step);
      last = result;
      return result;
    },
    async return() {
      isOver = true;
      return end;
    },
  });
}
