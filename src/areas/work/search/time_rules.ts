/** Time limits of searches in repositories, and the replies on a timeout. */
import { Semaphore } from '../../../foundation/semaphore.ts';
import { ApiError, furthest } from '../../../http/index.ts';
import { pageAsked, tooFarBehind } from '../../../lists/index.ts';
import type { Search } from './definition.ts';

/** At this limit a search in repositories ends with partial results, and a search in texts with none. */
export const maximumSearch_ms = 5_000;
/** A search keeps one or two processors busy with git; other searches are queued, so that requests of other kinds have processors left. */
const turns = new Semaphore(2, 100);
const incomplete = { 'x-search-incomplete': 'true' };

/** The searches of each user run one after the other, so that no user blocks the searches of others. */
const turnsOfUsers = new Map<number, Semaphore>();
const mostOfUser = 10;

async function take(semaphore: Semaphore): Promise<void> {
  try {
    await semaphore.take(maximumSearch_ms);
  } catch {
    throw new ApiError(503, { message: '503 Service Unavailable - Too many searches are running' });
  }
}

/**
 * Runs a search when it is the caller's turn, within the time limit.
 * @throws ApiError 503 if too many are queued
 */
export async function inTurn<T>(
  { caller }: Pick<Search, 'caller'>,
  search: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = turnsOfUsers.get(caller.id) ?? new Semaphore(1, mostOfUser);
  turnsOfUsers.set(caller.id, own);
  await take(own);
  try {
    await take(turns);
    try {
      return await search(AbortSignal.timeout(maximumSearch_ms));
    } finally {
      turns.release();
    }
  } finally {
    own.release();
    if (own.waiting === 0) turnsOfUsers.delete(caller.id);
  }
}

/**
 * A page of results, from all of them or from as many as the page needs.
 * @throws ApiError 405 for a page number too far into a list without a total
 */
export function pageOf<T>(
  found: readonly T[],
  { input }: Search,
  { isWhole, isComplete }: { isWhole: boolean; isComplete: boolean },
) {
  const { page, per_page, offset } = pageAsked(input);
  if (offset + per_page > furthest && !(isWhole && isComplete)) throw tooFarBehind();
  return {
    items: found.slice(offset, offset + per_page),
    page,
    per_page,
    has_more: found.length > offset + per_page,
    ...(isWhole && isComplete ? { total: found.length } : {}),
    ...(isComplete ? {} : { headers: incomplete }),
  };
}

/** The number of results that a page needs, with one more to detect whether another page follows. */
export const neededFor = ({ input }: Search): number => {
  const { offset, per_page } = pageAsked(input);
  return offset + per_page + 1;
};
