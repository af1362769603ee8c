/** Reads source maps. A map that is too costly or invalid is never read again. */

import { OverBudget } from '../../../../foundation/limited_thread.ts';
import type { Services } from '../../../../http/index.ts';
import { type Original, originalsOf } from '../../../../source_maps/index.ts';
import { costlyAmong, noteCostly } from '../../../instance/costly_files/index.ts';

type ToMap = Parameters<typeof originalsOf>[0];

/** The context for reading a map. */
export interface Reader extends Pick<Services, 'db'> {
  project_id: number;
  /** Aborts when no one waits for the result any more. */
  signal: AbortSignal;
}

const contentOf = (digest: string) => `source map ${digest}`;

/**
 * Determines which maps are not read again, because they were too costly or invalid.
 * @param digests the SHA-256 or the git object id of each map
 */
export async function costlyMaps({ db }: Reader, digests: readonly string[]): Promise<(digest: string) => boolean> {
  const costly = await costlyAmong(db, digests.map(contentOf));
  return (digest) => costly.has(contentOf(digest));
}

/**
 * Maps positions in generated code to their origins.
 * @returns undefined if the map is invalid, or cannot be read at the moment
 */
export async function readMap(
  { db, project_id, signal }: Reader,
  digest: string,
  map: ToMap,
): Promise<(Original | null)[] | undefined> {
  const content = contentOf(digest);
  try {
    const found = await originalsOf(map, { owner: project_id, content, signal });
    // Reading it from the repository again, in vain, would cost as much each time.
    if (found === undefined) await noteCostly(db, content, 'It cannot be read.');
    return found;
  } catch (error) {
    if (error instanceof OverBudget) await noteCostly(db, content, `Reading it takes too much ${error.resource}.`);
    return undefined;
  }
}
