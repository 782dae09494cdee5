import type { UserRepository, UserSearch } from "@latchkey/database";

const PAGE_SIZE = 500;

/** Yields non-empty pages in ascending order of ids. Each page starts after the last id of the previous page. */
export async function* listUsers(users: UserRepository, request: Partial<UserSearch> = {}) {
  let { after = 0, limit = Number.POSITIVE_INFINITY } = request;
  while (limit > 0) {
    const page = await users.list({ ...request, after, limit: Math.min(limit, PAGE_SIZE) });
    const last = page.at(-1);
    if (!last) return;
    yield page;
    after = last.id;
    limit -= page.length;
  }
}
