/** Reading source maps, each of which is given up for good when it is too costly or cannot be read. */

import { OverBudget } from '../../../../foundation/limited_thread.ts';
import type { Services } from '../../../../http/index.ts';
import { type Original, originalsOf } from '../../../../source_maps/index.ts';
import { costlyAmong, noteCostly } from '../../../instance/costly_files/index.ts';

type ToMap = Parameters<typeof originalsOf>[0];

/** What reads a map, and for whom. */
export interface Reader extends Pick<Services, 'db'> {
  project_id: number;
  /** Fires when no one waits for the answer any more. */
  signal: AbortSignal;
}

const contentOf = (digest: string) => `source map ${digest}`;

/**
 * Which maps are not read again, because they were too costly or could not be read.
 * @param digests the SHA-256 or the id of the git object of each
 */
export async function costlyMaps({ db }: Reader, digests: readonly string[]): Promise<(digest: string) => boolean> {
  const costly = await costlyAmong(db, digests.map(contentOf));
  return (digest) => costly.has(contentOf(digest));
}

/**
 * Where positions in generated code come from.
 * @returns undefined for a map that cannot be read, or not at the moment
 */
export async function readMap(
  { db, project_id, signal }: Reader,
  digest: string,
  map: ToMap,
): Promise<(Original | null)[] | undefined> {
  const content = contentOf(digest);
  try {
    const found = await originalsOf(map, { owner: project_id, content, signal });
    // Reading it from the repository again, for nothing, would cost as much each time.
    if (found === undefined) await noteCostly(db, content, 'It cannot be read.');
    return found;
  } catch (error) {
    if (error instanceof OverBudget) await noteCostly(db, content, `Reading it takes too much ${error.resource}.`);
    return undefined;
  }
}
