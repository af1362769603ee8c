/** Vulnerabilities as mail tells of them. */
import { sql } from 'kysely';
import { isUserOfProject, levels } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { MailItem, MailPlace } from '../../../services/index.ts';
import { mailTarget } from '../../activity/notifications/index.ts';
import { severityOf, vulnerabilityPage } from './present.ts';

async function describe(
  db: Database,
  vulnerability_id: number,
  { full_path }: MailPlace,
): Promise<MailItem | undefined> {
  const row = await db
    .selectFrom('vulnerabilities')
    .select(['id', 'name', 'severity', 'state'])
    .where('id', '=', vulnerability_id)
    .executeTakeFirst();
  if (!row) return undefined;
  const { id, name, state } = row;
  const severity = severityOf(row.severity);
  return {
    name: 'vulnerability',
    label: String(id),
    title: name,
    description: null,
    thread: `vulnerability_${id}`,
    page: vulnerabilityPage(full_path, id),
    details: [['Severity', severity]],
    facts: { 'Vulnerability-ID': id, 'Vulnerability-Severity': severity, 'Vulnerability-State': state },
  };
}

export const vulnerabilityMail = mailTarget('Vulnerability', (id) => {
  const row = {
    rows: sql`vulnerabilities join projects on projects.id = vulnerabilities.project_id`,
    isIts: sql<boolean>`vulnerabilities.id = ${id}`,
  };
  return {
    row,
    is_in_group: false,
    isReader: () => sql`
      exists (select from ${row.rows} where ${row.isIts} and (users.admin or ${isUserOfProject(levels.developer)}))`,
    // Nobody takes part in a vulnerability before they have read of it.
    participants: () => sql`select null::bigint where false`,
    people: {},
    describe: ({ db }, place) => describe(db, id, place),
  };
});
