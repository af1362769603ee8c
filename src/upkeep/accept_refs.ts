/** Records refs that changed outside a push, as if they had been pushed. */
import { announceUpdates, refsChanged } from '../areas/code/repository/index.ts';
import { objectHeader, type Repository } from '../git/index.ts';
import type { Services } from '../services/index.ts';
import { type RefDifference, refDifferences } from './recorded_refs.ts';
import { placeOf, type RepositoryRow } from './repositories.ts';

/** A reason not to accept, as a sentence for the operator. */
export class RefsRefused extends Error {}

/**
 * Accepts the refs of a repository as they are: merge requests follow them, webhooks are triggered, and `check` reports them no longer.
 * @returns what was accepted
 * @throws RefsRefused
 */
export async function acceptRefs(services: Services, row: RepositoryRow): Promise<RefDifference[]> {
  const repository = placeOf(services.storages, row);
  if (!repository) throw new RefsRefused(`Its storage ${row.storage} is not in COPPICE_STORAGES.`);
  if (await isMoving(services, row))
    throw new RefsRefused('Refs of this repository are changing at the moment. Try again later.');
  const differences = await refDifferences(services.db, row, repository);
  if (
    row.kind.needs_branch &&
    differences.some(({ ref, now }) => now === null && ref === `refs/heads/${row.default_branch}`)
  )
    throw new RefsRefused(`The branch ${row.default_branch} is missing. \`check --recover\` brings it back.`);
  for (const { ref, now } of differences)
    if (now !== null && !(await objectHeader(repository, now)))
      throw new RefsRefused(`${ref} is at ${now}, which is not in the repository. Restore it from a backup.`);
  if (differences.length > 0) await recordMoves(services, row, repository, differences);
  return differences;
}

/** Also when the move seems abandoned: settling it records where the refs are. */
async function isMoving({ db }: Services, { kind, id }: RepositoryRow): Promise<boolean> {
  const moving = await db
    .selectFrom('reference_updates')
    .select('id')
    .where(kind.column, '=', id)
    .limit(1)
    .executeTakeFirst();
  return moving !== undefined;
}

/**
 * Writes the effects of moves that have happened. They are announced first, so that after a crash a server writes them.
 * @param differences each with a `now` that the repository has
 */
export async function recordMoves(
  services: Services,
  row: RepositoryRow,
  repository: Repository,
  differences: readonly RefDifference[],
): Promise<void> {
  const moved = await Promise.all(
    differences.map(async ({ ref, recorded, now }) => {
      // Commits between the two cannot be counted from one that is lost.
      const isKnown = recorded !== null && (now === null || (await objectHeader(repository, recorded)) !== undefined);
      return { ref, old: isKnown ? recorded : null, new: now };
    }),
  );
  const mover = { kind: row.kind, owner: row, user_id: null };
  await refsChanged(services, await announceUpdates(services.db, mover, moved), moved);
}
