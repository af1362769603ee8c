/** Projects in mail about a changed path. */
import { sql } from 'kysely';
import { countsToday, isKnownProject, projectPage } from '../../../access/index.ts';
import { mailTarget } from '../../activity/notifications/index.ts';

export const projectMail = mailTarget('Project', (id) => {
  const isIts = sql<boolean>`projects.id = ${id}`;
  return {
    row: { rows: sql`projects`, isIts },
    is_in_group: false,
    isReader: () => sql`exists (select from projects where ${isIts} and ${isKnownProject})`,
    participants: () => sql`select user_id from project_authorizations where project_id = ${id} and ${countsToday()}`,
    people: {},
    describe: async (_services, { full_path }) => ({
      name: 'project',
      label: `to ${full_path}`,
      title: null,
      description: null,
      thread: `project_${id}`,
      page: projectPage(full_path),
      facts: {},
    }),
  };
});
