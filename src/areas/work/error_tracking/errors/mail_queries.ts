/** Errors of applications in mail. */
import { sql } from 'kysely';
import { countsToday, isUserOfProject, levels } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import type { MailItem, MailPlace } from '../../../../services/index.ts';
import { inProject, mailTarget } from '../../../activity/notifications/index.ts';
import { errorPage, titleOf } from './present.ts';

/** Titles come from applications, and everyone with a client key can send some. */
const maximumTitle = 200;

async function describe(db: Database, error_id: number, { full_path }: MailPlace): Promise<MailItem | undefined> {
  const row = await db
    .selectFrom('error_tracking_errors as errors')
    .innerJoin('error_tracking_error_texts as texts', 'texts.error_id', 'errors.id')
    .select(['id', 'name', 'description', 'actor', 'level', 'last_release', 'events_count', 'users_count', 'status'])
    .where('errors.id', '=', error_id)
    .executeTakeFirst();
  if (!row) return undefined;
  const { id, actor, level, last_release, events_count, users_count, status } = row;
  return {
    name: 'error',
    label: String(id),
    description: null,
    thread: `error_${id}`,
    page: errorPage(full_path, id),
    title: [...titleOf(row).replaceAll(/\s+/g, ' ')].slice(0, maximumTitle).join(''),
    details: [
      ['Where', actor],
      ['Level', level],
      ...(last_release === null ? [] : [['Release', last_release] as [string, string]]),
      ['Events', String(events_count)],
      ['Users', String(users_count)],
    ],
    facts: { 'Error-ID': id, 'Error-Level': level, 'Error-Status': status },
  };
}

const isReader = sql<boolean>`(users.admin or ${isUserOfProject(levels.reporter)})`;

export const errorMail = mailTarget('TrackedError', (id) => ({
  ...inProject('error_tracking_errors', id, isReader),
  participants: (are_members) =>
    are_members
      ? sql`
    select user_id from error_tracking_errors errors join project_authorizations using (project_id)
     where errors.id = ${id} and access_level >= ${levels.reporter} and ${countsToday()}`
      : sql`select assignee_id from error_tracking_errors where id = ${id}`,
  people: {
    isAssignee: sql`exists (select from error_tracking_errors errors where errors.id = ${id} and errors.assignee_id = users.id)`,
  },
  describe: ({ db }, place) => describe(db, id, place),
}));
