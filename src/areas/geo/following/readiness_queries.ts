import type { Services } from '../../../http/index.ts';
import { followingOf } from './queries.ts';

/**
 * Why a secondary is not ready, as a sentence: until the first copy of the database is complete, it cannot respond to
 * requests.
 */
export async function copyProblem({ db, geo }: Pick<Services, 'db' | 'geo'>): Promise<string | undefined> {
  if (geo.role !== 'secondary') return undefined;
  const following = await followingOf(db);
  if (following?.isCopied) return undefined;
  return following?.problem ?? 'The database is being copied.';
}
