/** Whether projects do what their compliance frameworks demand (docs/reference/compliance_frameworks.md#status). */
import { sql } from 'kysely';
import { groupRole, projectRole } from '../../../access/index.ts';
import { found, get, one, pageOf } from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { ComplianceStatus } from './present.ts';
import { demandedProjects, judged } from './queries.ts';

const plan = 'ultimate';

export const complianceStatusRoutes = [
  get('/groups/:id/compliance_status', {
    operation: 'listComplianceStatus',
    summary: 'List the projects of a group with compliance frameworks, with what they do not meet, by path',
    access: groupRole('reporter'),
    plan,
    input: paging,
    returns: pageOf(ComplianceStatus),
    handle: async ({ db, url, caller, group, input }) => {
      const isInside = sql<boolean>`
        exists (select from namespaces place where place.id = projects.namespace_id and place.traversal_ids @> ${[group.id]}::bigint[])`;
      const page = await paginate(db, demandedProjects(db, caller, isInside), input);
      return { ...page, items: await judged(db, url, page.items) };
    },
  }),
  get('/projects/:id/compliance_status', {
    operation: 'getProjectComplianceStatus',
    summary: 'Get what a project does not meet of its compliance frameworks',
    access: projectRole('reporter'),
    plan,
    returns: one(ComplianceStatus),
    refusals: { 404: '404 Compliance Status Not Found' },
    handle: async ({ db, url, caller, project }) => {
      const [row] = await demandedProjects(db, caller, sql`projects.id = ${project.id}`).execute();
      const [status] = await judged(db, url, row ? [row] : []);
      return found('Compliance Status', status);
    },
  }),
];
