/** The response of a single group. */
import { sql } from 'kysely';
import type { Static } from 'typebox';
import { countsToday, levels, type MaybeCaller, registrationToken } from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';
import { completeRows, presentProject } from '../projects/present.ts';
import { visibleProjectRows } from '../projects/queries.ts';
import { type GroupDetailForm, type GroupDetailRow, presentGroupDetail } from './present.ts';
import { groupRow } from './queries.ts';

/** The maximum number of projects in the response of a single group; the list of its projects has all. */
const shownProjects = 100;

/** @param caller decides which invited groups the response contains */
export async function groupReply(
  services: Pick<Services, 'db' | 'url' | 'secrets'>,
  caller: MaybeCaller,
  id: number,
): Promise<Static<typeof GroupDetailForm>> {
  const row = await groupRow(services.db, caller, id);
  return { ...presentGroupDetail(services.url, caller, row), ...runnersToken(services, row) };
}

/** The token with which runners of the group register, for Owners. */
const runnersToken = (
  services: Pick<Services, 'secrets'>,
  { id, access_level, runner_registration_version: version }: GroupDetailRow,
): { runners_token?: string } =>
  access_level >= levels.owner ? { runners_token: registrationToken(services, { kind: 'group', id, version }) } : {};

/** The same with the newest of its own projects and of projects shared with it. */
export async function groupReplyWithProjects(
  { db, url, ssh_url, secrets }: Pick<Services, 'db' | 'url' | 'ssh_url' | 'secrets'>,
  caller: MaybeCaller,
  id: number,
): Promise<Static<typeof GroupDetailForm>> {
  const newest = visibleProjectRows(db, caller).orderBy('projects.id', 'desc').limit(shownProjects);
  const own = await newest.where('projects.namespace_id', '=', id).execute();
  const shared = await newest
    .where(
      sql<boolean>`projects.id in (select project_id from group_links where invited_group_id = ${id} and ${countsToday('group_links')})`,
    )
    .execute();
  const complete = (await completeRows(db, [...own, ...shared])).map((row) =>
    presentProject({ url, ssh_url }, caller, row),
  );
  return {
    ...(await groupReply({ db, url, secrets }, caller, id)),
    projects: complete.slice(0, own.length),
    shared_projects: complete.slice(own.length),
  };
}
