/** Releases in mail. */
import { sql } from 'kysely';
import { isUserOfProject, levels, readsCode } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { MailItem, MailPlace } from '../../../services/index.ts';
import { inProject, mailTarget, noParticipants } from '../../activity/notifications/index.ts';
import { releasePage } from './present.ts';

async function describe(db: Database, id: number, { full_path }: MailPlace): Promise<MailItem | undefined> {
  const row = await db
    .selectFrom('releases')
    .select(['tag', 'name', 'description'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return undefined;
  return {
    name: 'release',
    label: row.tag,
    title: row.name,
    description: row.description,
    thread: `release_${id}`,
    page: releasePage(full_path, row.tag),
    facts: { 'Release-ID': id, 'Release-Tag': row.tag },
  };
}

/** A message contains the tag, so recipients must be allowed to read releases and code. */
const isReader = sql<boolean>`(
  ${readsCode} and projects.releases_access_level <> 'disabled'
  and (users.admin or ${isUserOfProject(levels.guest)}
       or (projects.releases_access_level = 'enabled' and projects.visibility <> 'private')))`;

export const releaseMail = mailTarget('Release', (id) => ({
  ...inProject('releases', id, isReader),
  participants: noParticipants,
  people: {},
  describe: ({ db }, place) => describe(db, id, place),
}));
