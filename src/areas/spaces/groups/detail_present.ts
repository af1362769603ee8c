/** One group in full, as it is shown and as its changes answer it. */

import { sql } from 'kysely';
import type { Static } from 'typebox';
import type { MaybeCaller } from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';
import { linkCounts } from '../../people/namespaces/index.ts';
import { presentProject, visibleProjectRows } from '../projects/index.ts';
import { type GroupDetailForm, presentGroupDetail } from './present.ts';
import { groupRow } from './queries.ts';

/** A single group answers at most so many of its projects; the list of its projects has all. */
const shownProjects = 100;

/** @param caller who sees the group; without projects, nothing of it depends on him but the groups that are invited */
export const groupReply = async (
  { db, url }: Pick<Services, 'db' | 'url'>,
  caller: MaybeCaller,
  id: number,
): Promise<Static<typeof GroupDetailForm>> => presentGroupDetail(url, await groupRow(db, caller, id));

/** The same with the first of its projects, and of those that it is invited to. */
export async function groupReplyWithProjects(
  { db, url }: Pick<Services, 'db' | 'url'>,
  caller: MaybeCaller,
  id: number,
): Promise<Static<typeof GroupDetailForm>> {
  const newest = visibleProjectRows(db, caller).orderBy('projects.id', 'desc').limit(shownProjects);
  const own = await newest.where('projects.namespace_id', '=', id).execute();
  const shared = await newest
    .where(sql<boolean>`projects.id in (select project_id from group_links where invited_group_id = ${id} and ${linkCounts})`)
    .execute();
  const [projects, shared_projects] = [own, shared].map((rows) => rows.map((row) => presentProject({ url }, caller, row)));
  return { ...presentGroupDetail(url, await groupRow(db, caller, id)), projects: projects!, shared_projects: shared_projects! };
}
