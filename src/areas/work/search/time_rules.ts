/** How long searches of repositories take, and what they answer then. */
import { Semaphore } from '../../../foundation/semaphore.ts';
import { ApiError, furthest } from '../../../http/index.ts';
import { pageAsked, tooFarBehind } from '../../../lists/index.ts';
import type { Search } from './definition.ts';

/** A search of repositories ends then with what it has found, one of texts with nothing. */
export const maximumSearch_ms = 5_000;
/** A search takes a processor or two of git; others wait for their turn, so that it leaves some for everybody else. */
const turns = new Semaphore(2, 100);
const incomplete = { 'x-search-incomplete': 'true' };

/** The searches of each user that has any run one after the other, so that none takes the turns of all others. */
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
 * Searches when it is the turn of the caller, for as long as a search may take.
 * @throws ApiError 503 if too many wait
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
 * A page of what was found, of all of it or of as much as the page needs.
 * @throws ApiError 405 for a page by number too far behind the beginning of a list without a total
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

/** How many a page needs, with one to know whether another page follows. */
export const neededFor = ({ input }: Search): number => {
  const { offset, per_page } = pageAsked(input);
  return offset + per_page + 1;
};
