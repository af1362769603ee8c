/** Adding badges. */
import { type Database, stamped } from '../../../db/index.ts';
import { invalid } from '../../../http/index.ts';
import { type BadgeOwner, type BadgeRow, ownBadges } from './queries.ts';

const maximumBadges = 100;
export const tooManyText = `Maximum number of badges (${maximumBadges}) exceeded`;

export interface GivenBadge {
  name?: string | null;
  link_url?: string;
  image_url?: string;
}

/** Locks the owner of badges, so that two concurrent additions cannot exceed the limit together. */
const lockOwner = (tx: Database, owner: BadgeOwner) =>
  owner.kind === 'project'
    ? tx.selectFrom('projects').select('id').where('id', '=', owner.project.id).forNoKeyUpdate().executeTakeFirst()
    : tx.selectFrom('namespaces').select('id').where('id', '=', owner.group.id).forNoKeyUpdate().executeTakeFirst();

/**
 * Adds a badge.
 * @throws ApiError 400 if the maximum number of badges is reached
 */
export const addBadge = (
  db: Database,
  owner: BadgeOwner,
  given: GivenBadge & { link_url: string; image_url: string },
): Promise<BadgeRow> =>
  db.transaction().execute(async (tx) => {
    await lockOwner(tx, owner);
    const { count } = await ownBadges(tx, owner)
      .clearSelect()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    if (count >= maximumBadges) throw invalid({ base: [tooManyText] });
    const of = owner.kind === 'project' ? { project_id: owner.project.id } : { group_id: owner.group.id };
    const { id } = await tx
      .insertInto('badges')
      .values({ ...given, ...of })
      .returning('id')
      .executeTakeFirstOrThrow();
    return ownBadges(tx, owner).where('id', '=', id).executeTakeFirstOrThrow();
  });

/** Changes the given columns of a badge. @returns undefined if it no longer exists */
export async function changeBadge(
  db: Database,
  owner: BadgeOwner,
  id: number,
  given: GivenBadge,
): Promise<BadgeRow | undefined> {
  await db.updateTable('badges').set(stamped(given)).where('id', '=', id).execute();
  return ownBadges(db, owner).where('id', '=', id).executeTakeFirst();
}
