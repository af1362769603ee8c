/** Issues: showing, creating, updating and deleting one. Lists are in list_routes.ts. */
import { isIP } from 'node:net';
import { admin, epicKind, issueEditor, issueRole, issueVisible, projectRole } from '../../../access/index.ts';
import { checkUnmodified, del, deleteFound, found, get, Id, nothing, one, post, put } from '../../../http/index.ts';
import { noMatchText } from '../issuables/rules.ts';
import { createIssue } from './creation_actions.ts';
import { changesFrom, editInput, editRules, newIssueFrom, newIssueInput, newIssueRules } from './parameters.ts';
import { Issue, presentSingleIssue } from './present.ts';
import { updateIssue } from './update_actions.ts';

const path = '/projects/:id/issues';

export const issueRoutes = [
  get('/issues/:id', {
    operation: 'getIssue',
    summary: 'Get an issue by its ID',
    access: admin,
    input: { id: Id },
    returns: one(Issue),
    handle: async ({ db, url, caller, input }) => {
      const query = db.selectFrom('issues').select(['id', 'project_id']).where('id', '=', input.id);
      return presentSingleIssue({ db, url }, caller, found(undefined, await query.executeTakeFirst()));
    },
  }),
  get(`${path}/:issue_iid`, {
    operation: 'getProjectIssue',
    summary: 'Get an issue',
    access: issueVisible,
    returns: one(Issue),
    handle: ({ db, url, caller, issue }) => presentSingleIssue({ db, url }, caller, issue),
  }),
  post(path, {
    operation: 'createProjectIssue',
    summary: 'Create an issue',
    description: 'At most 200 assignees. Quick actions in the description are executed.',
    access: projectRole('guest', { feature: 'issues' }),
    input: newIssueInput,
    rules: newIssueRules,
    rate: { setting: 'issues_create_limit', window_s: 60 },
    returns: one(Issue),
    refusals: {
      400: '<parameter>: <reason>',
      404: ['404 Milestone Not Found', '404 Iteration Not Found'],
      409: 'Duplicated issue',
      422: [noMatchText(epicKind), 'Cannot set confidential epic for a non-confidential issue'],
    },
    handle: async ({ db, storages, url, caller, project, plan, input, sent_from: { address = '', user_agent } }) => {
      const issue = await newIssueFrom({ db, caller, plan, project }, input);
      // Removes the zone of a link-local address; only network connections have an address.
      const [ip = ''] = address.split('%');
      const sent_from = user_agent === undefined || isIP(ip) === 0 ? undefined : { address: ip, user_agent };
      const added = await createIssue(db, { caller, plan, storages, url }, project, { ...issue, sent_from });
      return presentSingleIssue({ db, url }, caller, added);
    },
  }),
  put(`${path}/:issue_iid`, {
    operation: 'updateProjectIssue',
    summary: 'Update an issue',
    access: issueEditor(),
    input: editInput,
    rules: editRules,
    returns: one(Issue),
    refusals: {
      400: '<parameter>: <reason>',
      404: ['404 Milestone Not Found', '404 Iteration Not Found'],
      422: [noMatchText(epicKind), 'Cannot set confidential epic for a non-confidential issue'],
    },
    handle: async ({ db, storages, url, caller, project, issue, plan, input }) => {
      const changes = await changesFrom({ db, caller, plan, project }, issue, input);
      await db.transaction().execute((tx) => updateIssue(tx, { caller, plan, storages, url }, project, issue, changes));
      return presentSingleIssue({ db, url }, caller, issue);
    },
  }),
  del(`${path}/:issue_iid`, {
    operation: 'deleteProjectIssue',
    summary: 'Delete an issue',
    access: issueRole('owner', 'Issue'),
    conditional: true,
    returns: nothing,
    refusals: { 404: '404 Issue Not Found' },
    handle: async ({ db, issue, unmodified_since }) => {
      checkUnmodified(issue.updated_at, unmodified_since);
      await deleteFound(db, 'issues', issue.id, 'Issue');
    },
  }),
];
