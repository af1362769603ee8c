/** Runners: programs on other machines that execute jobs (docs/reference/runners.md). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { admin, isMemberOfGroup, isMemberOfProject, levels, signedIn } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  atLeastOneOf,
  type Caller,
  del,
  found,
  get,
  Id,
  nothing,
  one,
  optional,
  type Page,
  pageOf,
  post,
  put,
  type Services,
} from '../../../http/index.ts';
import { mapPage, type Paging, paginate, paging } from '../../../lists/index.ts';
import { runnerTypes } from '../../code/runners/index.ts';
import { runnerInsider, runnerManager, runnerReader } from './access.ts';
import { changeRunner, deleteRunner, makeRunner, resetToken, tooManyTexts } from './actions.ts';
import { matching, runnerFilters } from './filters.ts';
import { placeForNew } from './making_checks.ts';
import { settingParameters, settingRules, settingsIn } from './parameters.ts';
import {
  MadeRunnerForm,
  managerRows,
  presentRunner,
  presentRunnerDetail,
  RunnerDetailForm,
  RunnerForm,
  RunnerManagerForm,
  runnerDetail,
  runnerRows,
  TokenForm,
} from './present.ts';
import { settingTexts } from './rules.ts';

const single = { runner_id: Id };
const missing = '404 Runner Not Found';
const scopes = ['manage_runner'];

export type Runners = ReturnType<typeof runnerRows>;

/** A page of runners, newest first. */
export async function runnerPage(
  { db, url }: Pick<Services, 'db' | 'url'>,
  runners: Runners,
  input: Paging & object,
): Promise<Page<ReturnType<typeof presentRunner>>> {
  const query = runners.where(matching(input)).orderBy('runners.id', 'desc');
  return mapPage(await paginate(db, query, input), (row) => presentRunner(url, row));
}

/** The runners of groups that the caller owns, and of projects that they maintain. */
const ownRunners = (db: Database, caller: Caller): Runners =>
  runnerRows(db).where(sql<boolean>`
    case runner_type
      when 'group_type' then exists (
        select from namespaces where namespaces.id = runners.namespace_id and ${isMemberOfGroup(caller, levels.owner)})
      when 'project_type' then exists (
        select from runner_projects join projects on projects.id = project_id
         where runner_id = runners.id and ${isMemberOfProject(caller, levels.maintainer)})
      else false end`);

const detailReply = async ({ db, url }: Pick<Services, 'db' | 'url'>, caller: Caller, id: number) =>
  presentRunnerDetail(url, found('Runner', await runnerDetail(db, caller, id)));

export const runnerRoutes = [
  post('/user/runners', {
    operation: 'createRunner',
    summary: 'Make a runner of the instance, a group or a project',
    description:
      'Of the instance for administrators, of a group for its Owners, of a project for its Maintainers. The token is shown only here.',
    access: signedIn,
    scopes: ['create_runner'],
    input: {
      runner_type: Type.Enum([...runnerTypes]),
      group_id: optional(Id),
      project_id: optional(Id),
      ...settingParameters,
    },
    rules: settingRules,
    returns: one(MadeRunnerForm),
    holds_secrets: true,
    refusals: {
      400: [...settingTexts, ...tooManyTexts, 'group_id is missing', 'project_id is missing'],
      403: ['403 Forbidden', '403 Forbidden - <reason>'],
      404: ['404 Group Not Found', '404 Project Not Found'],
    },
    handle: async ({ db, caller, input }) => {
      const place = await placeForNew(db, caller, input);
      return makeRunner(db, { ...place, created_by_id: caller.id, settings: settingsIn(input) });
    },
  }),
  get('/runners', {
    operation: 'listOwnRunners',
    summary: 'List the runners of groups that the caller owns and of projects that they maintain, newest first',
    access: signedIn,
    scopes,
    input: { ...runnerFilters, ...paging },
    returns: pageOf(RunnerForm),
    handle: ({ db, url, caller, input }) => runnerPage({ db, url }, ownRunners(db, caller), input),
  }),
  get('/runners/all', {
    operation: 'listAllRunners',
    summary: 'List all runners, newest first',
    access: admin,
    scopes,
    input: { ...runnerFilters, ...paging },
    returns: pageOf(RunnerForm),
    handle: ({ db, url, input }) => runnerPage({ db, url }, runnerRows(db), input),
  }),
  get('/runners/:runner_id', {
    operation: 'getRunner',
    summary: 'Show a runner',
    access: runnerReader,
    scopes,
    input: single,
    returns: one(RunnerDetailForm),
    handle: ({ caller, runner, ...services }) => detailReply(services, caller, runner.id),
  }),
  get('/runners/:runner_id/managers', {
    operation: 'listRunnerManagers',
    summary: 'List the machines of a runner, newest first',
    access: runnerInsider,
    scopes,
    input: { ...single, ...paging },
    returns: pageOf(RunnerManagerForm),
    handle: ({ db, runner, input }) =>
      paginate(db, managerRows(db).where('runner_id', '=', runner.id).orderBy('id', 'desc'), input),
  }),
  put('/runners/:runner_id', {
    operation: 'updateRunner',
    summary: 'Update a runner',
    access: runnerManager,
    scopes,
    input: { ...single, ...settingParameters },
    rules: [...settingRules, atLeastOneOf(...Object.keys(settingParameters))],
    returns: one(RunnerDetailForm),
    refusals: { 400: [...settingTexts], 404: missing },
    handle: async ({ caller, runner, input, ...services }) => {
      await changeRunner(services.db, runner.id, settingsIn(input));
      return detailReply(services, caller, runner.id);
    },
  }),
  del('/runners/:runner_id', {
    operation: 'deleteRunner',
    summary: 'Delete a runner',
    access: runnerManager,
    scopes,
    input: single,
    returns: nothing,
    refusals: { 403: '403 Forbidden - Runner associated with more than one project', 404: missing },
    handle: ({ db, runner }) => deleteRunner(db, runner.id),
  }),
  post('/runners/:runner_id/reset_authentication_token', {
    operation: 'resetRunnerToken',
    summary: 'Replace the token of a runner; the one before it ends at once',
    access: runnerManager,
    scopes,
    input: single,
    returns: one(TokenForm),
    holds_secrets: true,
    refusals: { 404: missing },
    handle: async ({ db, runner }) => {
      const { token, token_expires_at } = await resetToken(db, runner);
      return { token, token_expires_at };
    },
  }),
];
