/** The runners of projects and groups, and the tokens with which runners register there. */
import { sql } from 'kysely';
import {
  admin,
  groupRole,
  projectRole,
  type RegistrationPlace,
  registrationToken,
  takesInstanceRunners,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { del, found, get, Id, nothing, one, pageOf, post, type Services } from '../../../http/index.ts';
import { paging } from '../../../lists/index.ts';
import { noAccess, runnerNamed } from './access.ts';
import { tooManyTexts } from './actions.ts';
import { assignmentTexts, assignRunner, unassignRunner } from './assignment_actions.ts';
import { runnerFilters } from './filters.ts';
import { presentRunner, RunnerForm, runnerRows, TokenForm } from './present.ts';
import { runnerPage } from './routes.ts';

const scopes = ['manage_runner'];
const missing = '404 Runner Not Found';
const refused = (text: string) => `403 Forbidden - ${text}`;

/** The runners that may take jobs of a project: its own, those of the groups above, and those of the instance. */
const runnersForProject = (db: Database, id: number) =>
  runnerRows(db).where(sql<boolean>`
    (runners.id in (select runner_id from runner_projects where project_id = ${id})
     or runners.namespace_id in (
       select unnest(place.traversal_ids) from projects join namespaces place on place.id = projects.namespace_id
        where projects.id = ${id} and projects.group_runners_enabled)
     or (runner_type = 'instance_type' and (select ${takesInstanceRunners} from projects where projects.id = ${id})))`);

/** The runners of a group and of those above it, and those of the instance. */
const runnersForGroup = (db: Database, id: number) =>
  runnerRows(db).where(sql<boolean>`
    (runners.namespace_id in (select unnest(traversal_ids) from namespaces where namespaces.id = ${id})
     or (runner_type = 'instance_type' and not exists (
       select from namespaces place join namespaces above on above.id = any(place.traversal_ids)
        where place.id = ${id} and above.shared_runners_setting = 'disabled_and_unoverridable')))`);

/** Replaces the token with which runners register at a place: the one before it ends at once. */
async function replaceRegistrationToken(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  { kind, id }: Pick<RegistrationPlace, 'kind' | 'id'>,
) {
  const table = ({ instance: 'application_settings', group: 'namespaces', project: 'projects' } as const)[kind];
  const { rows } = await sql<{ version: number }>`
    update ${sql.table(table)} set runner_registration_version = runner_registration_version + 1
     where ${kind === 'instance' ? sql`true` : sql`id = ${id}`} returning runner_registration_version as version`.execute(
    db,
  );
  const { version } = found(undefined, rows[0]);
  return { token: registrationToken({ secrets }, { kind, id, version }), token_expires_at: null };
}

const replacing = { returns: one(TokenForm), holds_secrets: true, scopes } as const;

export const placeRunnerRoutes = [
  get('/projects/:id/runners', {
    operation: 'listProjectRunners',
    summary: 'List the runners that may take jobs of a project, newest first',
    access: projectRole('maintainer', { permission: 'read_runners', archived: true }),
    scopes,
    input: { ...runnerFilters, ...paging },
    returns: pageOf(RunnerForm),
    handle: ({ db, url, project, input }) => runnerPage({ db, url }, runnersForProject(db, project.id), input),
  }),
  get('/groups/:id/runners', {
    operation: 'listGroupRunners',
    summary: 'List the runners that may take jobs of the projects below a group, newest first',
    access: groupRole('owner', { permission: 'read_runners' }),
    scopes,
    input: { ...runnerFilters, ...paging },
    returns: pageOf(RunnerForm),
    handle: ({ db, url, group, input }) => runnerPage({ db, url }, runnersForGroup(db, group.id), input),
  }),
  post('/projects/:id/runners', {
    operation: 'assignRunner',
    summary: 'Assign a runner of another project',
    access: projectRole('maintainer', { archived: true }),
    scopes,
    input: { runner_id: Id },
    returns: one(RunnerForm),
    refusals: {
      400: [`base: ${assignmentTexts.taken}`, ...tooManyTexts],
      403: [assignmentTexts.locked, assignmentTexts.group, assignmentTexts.instance, noAccess].map(refused),
      404: missing,
    },
    handle: async ({ db, url, caller, project, input }) => {
      const runner = await runnerNamed(db, input.runner_id);
      await assignRunner(db, caller, project, runner);
      const row = await runnerRows(db).where('runners.id', '=', runner.id).executeTakeFirst();
      return presentRunner(url, found('Runner', row));
    },
  }),
  del('/projects/:id/runners/:runner_id', {
    operation: 'unassignRunner',
    summary: 'Take a runner from a project',
    access: projectRole('maintainer', { archived: true }),
    scopes,
    input: { runner_id: Id },
    returns: nothing,
    refusals: { 403: [assignmentTexts.last, assignmentTexts.owner].map(refused), 404: missing },
    handle: ({ db, project, input }) => unassignRunner(db, project.id, input.runner_id),
  }),
  post('/runners/reset_registration_token', {
    ...replacing,
    operation: 'resetInstanceRegistrationToken',
    summary: 'Replace the token with which runners of the instance register',
    access: admin,
    handle: ({ db, secrets }) => replaceRegistrationToken({ db, secrets }, { kind: 'instance', id: 0 }),
  }),
  post('/groups/:id/runners/reset_registration_token', {
    ...replacing,
    operation: 'resetGroupRegistrationToken',
    summary: 'Replace the token with which runners of a group register',
    access: groupRole('owner'),
    handle: ({ db, secrets, group }) => replaceRegistrationToken({ db, secrets }, { kind: 'group', id: group.id }),
  }),
  post('/projects/:id/runners/reset_registration_token', {
    ...replacing,
    operation: 'resetProjectRegistrationToken',
    summary: 'Replace the token with which runners of a project register',
    access: projectRole('maintainer', { archived: true }),
    handle: ({ db, secrets, project }) =>
      replaceRegistrationToken({ db, secrets }, { kind: 'project', id: project.id }),
  }),
];
