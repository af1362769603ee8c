/** Releases as mail tells of them. */
import { sql } from 'kysely';
import { isKnownProject, isUserOfProject, levels } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { MailItem, MailPlace } from '../../../services/index.ts';
import { mailTarget } from '../../activity/notifications/index.ts';
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

const isMember = isUserOfProject(levels.guest);

/** A message names the tag, so it is for those who may read the releases and the code. */
const isReader = sql<boolean>`(
  projects.repository_access_level <> 'disabled' and projects.releases_access_level <> 'disabled'
  and (users.admin or ${isUserOfProject(levels.reporter)}
       or (projects.repository_access_level = 'enabled' and projects.visibility <> 'private' and ${isKnownProject}
           and (projects.releases_access_level = 'enabled' or ${isMember}))))`;

export const releaseMail = mailTarget('Release', (id) => {
  const row = {
    rows: sql`releases join projects on projects.id = releases.project_id`,
    isIts: sql<boolean>`releases.id = ${id}`,
  };
  return {
    row,
    is_in_group: false,
    isReader: () => sql`exists (select from ${row.rows} where ${row.isIts} and ${isReader})`,
    // Nobody takes part in a release before they have read of it.
    participants: () => sql`select null::bigint where false`,
    people: {},
    describe: ({ db }, place) => describe(db, id, place),
  };
});
