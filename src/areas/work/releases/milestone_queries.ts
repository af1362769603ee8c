/** Looks up the milestones of a release, by title or by id. */
import { sql } from 'kysely';
import { type Database, isAmong } from '../../../db/index.ts';
import { badRequest } from '../../../http/index.ts';
import { isMilestoneFor } from '../../planning/milestones/index.ts';

/** Titles or ids; if both are undefined, milestones stay unchanged. */
export interface WantedMilestones {
  milestones?: readonly string[] | undefined;
  milestone_ids?: readonly number[] | undefined;
}

/**
 * The milestones of the project or of its ancestor groups with some titles or ids. For equal titles, the project's milestone wins.
 * @throws ApiError 400 with the unknown ones
 */
export async function milestoneIds(
  db: Database,
  project_id: number,
  { milestones: titles, milestone_ids: ids }: WantedMilestones,
): Promise<number[] | undefined> {
  const wanted = titles ?? ids;
  if (wanted === undefined || wanted.length === 0) return wanted && [];
  const rows = await db
    .selectFrom('milestones')
    .select(['id', 'title'])
    .where(titles ? isAmong('title', titles, 'text[]') : isAmong('id', ids!, 'bigint[]'))
    .where(isMilestoneFor(project_id))
    .orderBy(sql`project_id is not null`)
    .orderBy('id')
    .execute();
  const found = new Map<string | number, number>(rows.map(({ id, title }) => [titles ? title : id, id]));
  const missing = wanted.filter((one) => !found.has(one));
  if (missing.length > 0) throw badRequest(`Milestone${titles ? '(s)' : ' id(s)'} not found: ${missing.join(', ')}`);
  return [...found.values()];
}
