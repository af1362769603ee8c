/** Where an issue stands, and where it goes: reordering, moving and cloning (issues.md section 8). */
import { Type } from 'typebox';
import { issueEditor, namedIssueReader, type Project, projectFor } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError, type Caller, found, one, optional, post, put } from '../../../http/index.ts';
import { cloneIssue, moveIssue } from './move_actions.ts';
import { reorderIssue } from './place_actions.ts';
import { Issue, presentSingleIssue } from './present.ts';

const path = '/projects/:id/issues/:issue_iid';
const to_project_id = Type.Integer({ description: 'The project that it goes to' });
const Neighbour = (side: string) => optional(Type.Integer({ description: `Id, not number, of the issue ${side}; 0: none` }));

/**
 * Where an issue goes. Whether the caller may do anything there is for the move to say.
 * @throws ApiError 404 for a project that there is not
 */
const targetOf = async (db: Database, caller: Caller, id: number): Promise<Project> =>
  found('Project', await projectFor(db, caller, String(id)));

/** An id that stands for an issue. */
const meant = (id: number | undefined) => (id !== undefined && id > 0 ? id : undefined);

export const issuePlaceRoutes = [
  put(`${path}/reorder`, {
    summary: 'Put an issue behind one, before another, or between both, in the order that is made by hand',
    access: issueEditor('Issue'),
    input: { move_after_id: Neighbour('before it'), move_before_id: Neighbour('behind it') },
    returns: one(Issue),
    handle: async ({ db, url, caller, project, issue, input }) => {
      const [move_after_id, move_before_id] = [meant(input.move_after_id), meant(input.move_before_id)];
      if (Object.values(input).some((id) => id !== undefined)) {
        const isThere = move_after_id !== undefined || move_before_id !== undefined;
        const place = { move_after_id, move_before_id };
        if (!isThere || !(await db.transaction().execute((tx) => reorderIssue(tx, project.id, issue.id, place))))
          throw new ApiError(422, { message: { error: 'Unprocessable Entity' } });
      }
      return presentSingleIssue({ db, url }, caller, issue);
    },
  }),
  post(`${path}/move`, {
    summary: 'Move an issue to another project: it gets a new number there, and the old one is closed',
    access: namedIssueReader,
    input: { to_project_id },
    returns: one(Issue),
    handle: async ({ db, url, caller, project: source, issue, plan, input }) => {
      const way = { source, target: await targetOf(db, caller, input.to_project_id), issue_id: issue.id };
      const moved = await db.transaction().execute((tx) => moveIssue(tx, { caller, plan, url }, way));
      return presentSingleIssue({ db, url }, caller, moved);
    },
  }),
  post(`${path}/clone`, {
    summary: 'Add an issue like this one, here or in another project',
    access: namedIssueReader,
    input: { to_project_id, with_notes: Type.Boolean({ default: false, description: 'Whether the comments come along' }) },
    returns: one(Issue),
    handle: async ({ db, url, caller, project: source, issue, plan, input }) => {
      const way = { source, target: await targetOf(db, caller, input.to_project_id), issue_id: issue.id };
      const clone = await db.transaction().execute((tx) => cloneIssue(tx, { caller, plan, url }, way, input.with_notes));
      return presentSingleIssue({ db, url }, caller, clone);
    },
  }),
];
