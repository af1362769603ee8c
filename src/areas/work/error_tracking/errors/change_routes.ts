/** Endpoints that change errors of a project: status and assignee, issues about them, and deletion. */
import { Type } from 'typebox';
import { projectRole } from '../../../../access/index.ts';
import {
  atLeastOneOf,
  ClearableList,
  CommaList,
  checked,
  del,
  found,
  Id,
  listOf,
  nothing,
  nullable,
  offeredOn,
  one,
  optional,
  post,
  put,
} from '../../../../http/index.ts';
import { titleReasons } from '../../../../texts/index.ts';
import { Issue, presentSingleIssue } from '../../issues/present.ts';
import { alreadyLinked, changeError, changeStatuses, createIssueOfError, deleteError, notAMember } from './actions.ts';
import { presentError, TrackedError } from './present.ts';
import { errorNumbered, errorsNumbered, statuses } from './queries.ts';

const path = '/projects/:id/error_tracking/errors';
const editor = projectRole('developer');
const maximumIds = 100;
const tooManyIds = `has more than ${maximumIds} ids`;

const ids = checked(CommaList(Id), (given) => (given.length > maximumIds ? [tooManyIds] : []));

export const errorChangeRoutes = offeredOn(
  ['hosted'],
  [
    put(path, {
      operation: 'updateErrors',
      summary: 'Change the status of several errors',
      description: `At most ${maximumIds}. If one of them does not exist, none is changed.`,
      access: editor,
      input: { ids, status: Type.Enum([...statuses]) },
      returns: listOf(TrackedError),
      refusals: { 400: `ids: ${tooManyIds}` },
      handle: async ({ db, url, caller, project, input }) => {
        await changeStatuses(db, { caller, project }, input.ids, input.status);
        const errors = await errorsNumbered(db, caller, project, [...new Set(input.ids)]);
        return errors.map(presentError(url, project));
      },
    }),
    put(`${path}/:error_id`, {
      operation: 'updateError',
      summary: 'Change the status or the assignee of an error',
      access: editor,
      input: {
        error_id: Id,
        status: optional(Type.Enum([...statuses])),
        assignee_id: optional(
          nullable(Type.Integer({ description: 'A member with the Reporter role or more; null: none' })),
        ),
      },
      rules: [atLeastOneOf('status', 'assignee_id')],
      returns: one(TrackedError),
      refusals: { 400: `assignee_id: ${notAMember}` },
      handle: async ({ db, url, caller, project, input: { error_id, ...changes } }) => {
        await changeError(db, { caller, project }, error_id, changes);
        return presentError(url, project)(found(undefined, await errorNumbered(db, caller, project, error_id)));
      },
    }),
    del(`${path}/:error_id`, {
      operation: 'deleteError',
      summary: 'Delete an error with its events',
      access: projectRole('maintainer'),
      input: { error_id: Id },
      returns: nothing,
      handle: ({ db, project, input }) => deleteError(db, project, input.error_id),
    }),
    post(`${path}/:error_id/issue`, {
      operation: 'createIssueOfError',
      summary: 'Create an issue about an error',
      description: 'Its description has the `web_url` of the error.',
      access: projectRole('developer', { feature: 'issues' }),
      input: {
        error_id: Id,
        title: optional(
          checked(
            Type.String({ description: 'At most 255 characters; by default the title of the error' }),
            titleReasons,
          ),
        ),
        labels: optional(ClearableList(Type.String({ description: 'Titles' }))),
      },
      rate: { setting: 'issues_create_limit', window_s: 60 },
      returns: one(Issue),
      refusals: { 400: 'title: <reason>', 409: alreadyLinked },
      handle: async ({ db, storages, url, caller, plan, project, input: { error_id, ...given } }) => {
        const added = await createIssueOfError(db, { caller, plan, storages, url }, project, error_id, given);
        return presentSingleIssue({ db, url }, caller, added);
      },
    }),
  ],
);
