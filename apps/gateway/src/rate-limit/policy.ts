/** A quota: how many requests one client may make in one fixed window. */

const UNIT_MS = { second: 1_000, minute: 60_000, hour: 3_600_000 } as const;
type Unit = keyof typeof UNIT_MS;

export interface Quota {
  /** Requests per window, at least 1. */
  readonly limit: number;
  readonly windowMs: number;
  /** As clients read it: `5 per 1 minute`. */
  readonly text: string;
}

/** What {@link parseQuota} accepts; nine digits keep every count a safe integer. */
export const QUOTA_PATTERN = "^[1-9][0-9]{0,8}/(second|minute|hour)$";

const isUnit = (word: string | undefined): word is Unit => word !== undefined && Object.hasOwn(UNIT_MS, word);

/** Reads `N/second|minute|hour`; throws RangeError for anything else. */
export function parseQuota(source: string): Quota {
  const [limit, unit] = source.split("/");
  if (!new RegExp(QUOTA_PATTERN).test(source) || !isUnit(unit))
    throw new RangeError(`Not a quota: ${source}`);
  return { limit: Number(limit), windowMs: UNIT_MS[unit], text: `${limit} per 1 ${unit}` };
}
