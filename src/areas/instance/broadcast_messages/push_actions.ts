/** Banners in the output of git for users who push. */
import { countsToday, projectPage } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { PushFollower, RepositoryServices } from '../../../services/index.ts';
import { messagesFor } from './queries.ts';

/** The access level of a user in a project; 0 without one. */
async function levelIn(
  db: Database,
  { project_id, user_id }: { project_id: number; user_id: number },
): Promise<number> {
  const row = await db
    .selectFrom('project_authorizations')
    .select(({ fn }) => fn.max('access_level').as('level'))
    .where('project_id', '=', project_id)
    .where('user_id', '=', user_id)
    .where(countsToday())
    .executeTakeFirst();
  return row?.level ?? 0;
}

async function linesFor(
  { db }: RepositoryServices,
  pushed: { project_id: number; user_id: number },
): Promise<string[]> {
  const project = db.selectFrom('projects').select('full_path').where('id', '=', pushed.project_id);
  const path = projectPage((await project.executeTakeFirstOrThrow()).full_path);
  const messages = await messagesFor(db, { path, level: () => levelIn(db, pushed) }, undefined);
  return messages
    .filter(({ broadcast_type, show_in_cli }) => broadcast_type === 'banner' && show_in_cli)
    .flatMap(({ message }) => [...message.split(/\r?\n/), '']);
}

/** Shows banners to users who push. It has no other effects. */
export const broadcastFollower: PushFollower = {
  follow: async () => async () => {},
  answer: linesFor,
};
