/** The issues of a milestone. */
import { sql } from 'kysely';
import { planningRole, projectRole } from '../../../../access/index.ts';
import { get, Id, pageOf } from '../../../../http/index.ts';
import { narrow, paging } from '../../../../lists/index.ts';
import { milestoneOf } from '../../../planning/milestones/index.ts';
import { Issue } from '../present.ts';
import { listIssues } from './queries.ts';

const shared = {
  summary: 'List the issues of a milestone, newest first',
  input: { ...paging, milestone_id: Id },
  returns: pageOf(Issue),
};
const isIn = (milestone_id: number) => narrow(sql`issues.milestone_id = ${milestone_id}`);

export const milestoneIssueRoutes = [
  get('/projects/:id/milestones/:milestone_id/issues', {
    operation: 'listProjectMilestoneIssues',
    ...shared,
    access: projectRole('guest', { feature: 'issues' }),
    handle: async ({ caller, project, plan, input, ...services }) => {
      const { id } = await milestoneOf(services.db, { project_id: project.id }, input.milestone_id);
      return listIssues(services, { caller, plan, scope: { project }, filters: {}, only: isIn(id) }, input);
    },
  }),
  get('/groups/:id/milestones/:milestone_id/issues', {
    operation: 'listGroupMilestoneIssues',
    ...shared,
    access: planningRole('group', 'guest'),
    handle: async ({ caller, parent, plan, input, ...services }) => {
      const { id } = await milestoneOf(services.db, { group_id: parent.id }, input.milestone_id);
      return listIssues(services, { caller, plan, scope: { group: parent }, filters: {}, only: isIn(id) }, input);
    },
  }),
];
