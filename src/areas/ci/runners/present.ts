/** How runners appear in replies. */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { groupPage, isMemberOfGroup, isMemberOfProject, levels, projectPage } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Caller, Id, nullable, resource, Timestamp } from '../../../http/index.ts';
import { JobRunner, presentJobRunner, RunnerStatus, type RunnerType, statusOf } from '../../code/runners/index.ts';
import { namespaceFullName } from '../../people/namespaces/index.ts';
import { presentUserBasic, UserBasic, type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import { accessLevels } from './rules.ts';

const Execution = Type.Enum(['idle', 'active'], { description: '`active`: it has a job' });

const basicFields = {
  ...JobRunner.properties,
  created_by: nullable(UserBasic),
  created_at: Timestamp,
  job_execution_status: Execution,
  contacted_at: nullable(Timestamp),
  tag_list: Type.Array(Type.String()),
  run_untagged: Type.Boolean(),
  locked: Type.Boolean(),
  maximum_timeout: nullable(Type.Integer({ description: 'Seconds' })),
  access_level: Type.Enum([...accessLevels]),
  maintenance_note: nullable(Type.String()),
};

export const RunnerForm = resource('Runner', basicFields);

const Project = Type.Object({
  id: Id,
  name: Type.String(),
  name_with_namespace: Type.String(),
  path: Type.String(),
  path_with_namespace: Type.String(),
  web_url: Type.String(),
});
const Group = Type.Object({ id: Id, name: Type.String(), web_url: Type.String() });

export const RunnerDetailForm = resource('RunnerDetail', {
  ...basicFields,
  version: nullable(Type.String({ description: 'Of the newest manager, as the others' })),
  revision: nullable(Type.String()),
  platform: nullable(Type.String()),
  architecture: nullable(Type.String()),
  projects: Type.Array(Project, { description: 'Those of its projects whose Maintainer the caller is' }),
  groups: Type.Array(Group, { description: 'Its group, if the caller is a member' }),
});

export const RunnerManagerForm = resource('RunnerManager', {
  id: Id,
  system_id: Type.String(),
  version: nullable(Type.String()),
  revision: nullable(Type.String()),
  platform: nullable(Type.String()),
  architecture: nullable(Type.String()),
  created_at: Timestamp,
  contacted_at: nullable(Timestamp),
  ip_address: nullable(Type.String()),
  status: RunnerStatus,
  job_execution_status: Execution,
});

/** A new token, which is shown once. */
export const TokenForm = resource('RunnerToken', {
  token: Type.String(),
  token_expires_at: nullable(Timestamp),
});
export const MadeRunnerForm = resource('MadeRunner', {
  id: Id,
  token: Type.String({ description: 'Shown only here' }),
  token_expires_at: nullable(Timestamp),
});

const isAt = (work: RawBuilder<unknown>) => sql<'idle' | 'active'>`
  case when exists (select from commit_statuses where ${work} and status in ('running', 'canceling')) then 'active' else 'idle' end`;

const creator = sql<UserBasicRow | null>`(
  select ${userBasicJson('users')} from users where users.id = runners.created_by_id)`;

interface Newest {
  version: string | null;
  revision: string | null;
  platform: string | null;
  architecture: string | null;
  ip_address: string | null;
}
const newest = sql<Newest | null>`(
  select json_build_object('version', version, 'revision', revision, 'platform', platform, 'architecture', architecture, 'ip_address', ip_address)
    from runner_managers where runner_id = runners.id order by contacted_at desc nulls last limit 1)`;

/** Runners in the columns of lists. */
export const runnerRows = (db: Database) =>
  db
    .selectFrom('runners')
    .select([
      'runners.id',
      'description',
      'paused',
      'runners.created_at',
      'contacted_at',
      'tag_list',
      'run_untagged',
      'locked',
    ])
    .select(['maximum_timeout', 'maintenance_note'])
    .select((q) => q.ref('access_level').$castTo<(typeof accessLevels)[number]>().as('access_level'))
    .select((q) => q.ref('runner_type').$castTo<RunnerType>().as('runner_type'))
    .select([creator.as('creator'), newest.as('manager'), statusOf('runners').as('status')])
    .select(isAt(sql`runner_id = runners.id`).as('job_execution_status'));
type RunnerRow = Awaited<ReturnType<ReturnType<typeof runnerRows>['executeTakeFirstOrThrow']>>;

/** Managers in the columns of lists. */
export const managerRows = (db: Database) =>
  db
    .selectFrom('runner_managers')
    .select(['id', 'system_id', 'version', 'revision', 'platform', 'architecture', 'created_at', 'contacted_at'])
    .select(['ip_address', statusOf('runner_managers').as('status')])
    .select(
      isAt(sql`runner_id = runner_managers.runner_id and runner_manager_id = runner_managers.id`).as(
        'job_execution_status',
      ),
    );

export const presentRunner = (url: string, row: RunnerRow): Static<typeof RunnerForm> => ({
  ...presentJobRunner({
    ...{ id: row.id, description: row.description, paused: row.paused, runner_type: row.runner_type },
    ...{ ip_address: row.manager?.ip_address ?? null, status: row.status },
  }),
  created_by: row.creator && presentUserBasic(url, row.creator),
  created_at: row.created_at,
  job_execution_status: row.job_execution_status,
  contacted_at: row.contacted_at,
  tag_list: row.tag_list,
  run_untagged: row.run_untagged,
  locked: row.locked,
  maximum_timeout: row.maximum_timeout,
  access_level: row.access_level,
  maintenance_note: row.maintenance_note,
});

interface Place {
  id: number;
  name: string;
  full_name: string;
  path: string;
  full_path: string;
}

const projectsOf = (caller: Caller) => sql<Place[]>`(
  select coalesce(json_agg(json_build_object('id', projects.id, 'name', projects.name, 'path', projects.path, 'full_path', projects.full_path,
                                             'full_name', ${namespaceFullName('above')} || ' / ' || projects.name) order by projects.id), '[]')
    from runner_projects join projects on projects.id = project_id join namespaces above on above.id = projects.namespace_id
   where runner_id = runners.id and ${caller.admin ? sql`true` : isMemberOfProject(caller, levels.maintainer)})`;

const groupsOf = (caller: Caller) => sql<Pick<Place, 'id' | 'name' | 'full_path'>[]>`(
  select coalesce(json_agg(json_build_object('id', namespaces.id, 'name', namespaces.name, 'full_path', namespaces.full_path)), '[]')
    from namespaces where namespaces.id = runners.namespace_id and ${caller.admin ? sql`true` : isMemberOfGroup(caller, levels.guest)})`;

/** A runner with its details. */
export const runnerDetail = (db: Database, caller: Caller, id: number) =>
  runnerRows(db)
    .select([projectsOf(caller).as('projects'), groupsOf(caller).as('groups')])
    .where('runners.id', '=', id)
    .executeTakeFirst();
type RunnerDetail = NonNullable<Awaited<ReturnType<typeof runnerDetail>>>;

export const presentRunnerDetail = (url: string, row: RunnerDetail): Static<typeof RunnerDetailForm> => ({
  ...presentRunner(url, row),
  version: row.manager?.version ?? null,
  revision: row.manager?.revision ?? null,
  platform: row.manager?.platform ?? null,
  architecture: row.manager?.architecture ?? null,
  projects: row.projects.map(({ id, name, path, full_name, full_path }) => ({
    id,
    name,
    name_with_namespace: full_name,
    path,
    path_with_namespace: full_path,
    web_url: url + projectPage(full_path),
  })),
  groups: row.groups.map(({ id, name, full_path }) => ({ id, name, web_url: url + groupPage(full_path) })),
});
