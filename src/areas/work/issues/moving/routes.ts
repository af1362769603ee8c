/** Reordering, moving and cloning issues (docs/reference/issues.md). */
import { Type } from 'typebox';
import { issueEditor, namedIssueReader, type Project, projectFor } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { type Caller, found, one, optional, post, put, unprocessable } from '../../../../http/index.ts';
import { reorder } from '../../issuables/position_actions.ts';
import { orderIn } from '../lists/order_rules.ts';
import { Issue, presentSingleIssue } from '../present.ts';
import { cloneIssue, moveIssue } from './actions.ts';

const path = '/projects/:id/issues/:issue_iid';
const to_project_id = Type.Integer({ description: 'ID of the target project' });
const Neighbor = (side: string) =>
  optional(Type.Integer({ description: `ID (not number) of the issue ${side}; 0: none` }));

/**
 * The target project. The caller's rights there are checked by the move itself.
 * @throws ApiError 404 for an unknown project
 */
const targetOf = async (db: Database, caller: Caller, id: number): Promise<Project> =>
  found('Project', await projectFor(db, caller, String(id)));

/** The id, if it is a valid id of an issue. */
const meant = (id: number | undefined) => (id !== undefined && id > 0 ? id : undefined);

export const issueMoveRoutes = [
  put(`${path}/reorder`, {
    operation: 'reorderIssue',
    summary: 'Reorder an issue',
    access: issueEditor('Issue'),
    input: { move_after_id: Neighbor('before it'), move_before_id: Neighbor('after it') },
    returns: one(Issue),
    refusals: { 422: 'Unprocessable Entity' },
    handle: async ({ db, url, caller, project, issue, input }) => {
      if (Object.values(input).some((id) => id !== undefined)) {
        const place = { after: meant(input.move_after_id), before: meant(input.move_before_id) };
        const isMoved = await db.transaction().execute((tx) => reorder(tx, orderIn(project.id), issue.id, place));
        if (!isMoved) throw unprocessable('Unprocessable Entity');
      }
      return presentSingleIssue({ db, url }, caller, issue);
    },
  }),
  post(`${path}/move`, {
    operation: 'moveIssue',
    summary: 'Move an issue to another project',
    access: namedIssueReader,
    input: { to_project_id },
    returns: one(Issue),
    refusals: {
      400: [
        'Cannot move work item due to insufficient permissions.',
        'Cannot move work item to target namespace as it is pending deletion.',
        'Cannot move work item to same project or group it originates from.',
      ],
      404: '404 Project Not Found',
    },
    handle: async ({ db, storages, url, caller, project: source, issue, plan, input }) => {
      const way = { source, target: await targetOf(db, caller, input.to_project_id), issue_id: issue.id };
      const moved = await db.transaction().execute((tx) => moveIssue(tx, { caller, plan, storages, url }, way));
      return presentSingleIssue({ db, url }, caller, moved);
    },
  }),
  post(`${path}/clone`, {
    operation: 'cloneIssue',
    summary: 'Clone an issue',
    access: namedIssueReader,
    input: { to_project_id, with_notes: Type.Boolean({ default: false, description: 'Copy the comments too' }) },
    returns: one(Issue),
    refusals: {
      400: [
        'Cannot clone work item due to insufficient permissions.',
        'Cannot clone work item to target namespace as it is pending deletion.',
      ],
      404: '404 Project Not Found',
    },
    handle: async ({ db, storages, url, caller, project: source, issue, plan, input }) => {
      const way = { source, target: await targetOf(db, caller, input.to_project_id), issue_id: issue.id };
      const clone = await db
        .transaction()
        .execute((tx) => cloneIssue(tx, { caller, plan, storages, url }, way, input.with_notes));
      return presentSingleIssue({ db, url }, caller, clone);
    },
  }),
];
