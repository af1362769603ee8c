/** Vulnerabilities in mail. */
import { sql } from 'kysely';
import { isUserOfProject, levels } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { MailItem, MailPlace } from '../../../services/index.ts';
import { inProject, mailTarget, noParticipants } from '../../activity/notifications/index.ts';
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

const isReader = sql<boolean>`(users.admin or ${isUserOfProject(levels.developer)})`;

export const vulnerabilityMail = mailTarget('Vulnerability', (id) => ({
  ...inProject('vulnerabilities', id, isReader),
  participants: noParticipants,
  people: {},
  describe: ({ db }, place) => describe(db, id, place),
}));
