/** How the runner of a job appears with it, and in webhooks (docs/reference/pipelines.md#jobs). */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { momentInJson, objectInJson } from '../../../db/index.ts';
import { Id, nullable, Timestamp } from '../../../http/index.ts';
import { online_hours, type RunnerType, runnerTypes, type Status, stale_days, statuses } from './rules.ts';

export const RunnerStatus = Type.Enum([...statuses], {
  description: `\`online\`: contact within ${online_hours} hours; \`stale\`: none for ${stale_days} days`,
});

/** The status of a runner or manager by its last contact. */
export const statusOf = (table: 'runners' | 'runner_managers'): RawBuilder<Status> => {
  const contact = sql.ref(`${table}.contacted_at`);
  return sql<Status>`case
    when ${contact} is null then 'never_contacted'
    when ${contact} > now() - make_interval(hours => ${sql.lit(online_hours)}) then 'online'
    when ${contact} > now() - make_interval(days => ${sql.lit(stale_days)}) then 'offline'
    else 'stale' end`;
};

export const JobRunner = Type.Object(
  {
    id: Id,
    description: Type.String(),
    ip_address: nullable(Type.String({ description: 'Of the newest manager' })),
    active: Type.Boolean({ deprecated: true, description: 'Deprecated: use `paused`, which is its opposite' }),
    paused: Type.Boolean(),
    is_shared: Type.Boolean({ description: 'Whether it is of the instance' }),
    runner_type: Type.Enum([...runnerTypes]),
    name: Type.Null(),
    online: nullable(Type.Boolean({ description: 'Null: never contacted' })),
    status: RunnerStatus,
  },
  { description: 'The runner that executes or executed it' },
);

export const JobRunnerManager = Type.Object(
  {
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
  },
  { description: 'The machine of the runner' },
);

type Columns<T> = { [Name in keyof T]: RawBuilder<T[Name]> };
type RunnerRow = Pick<Static<typeof JobRunner>, 'id' | 'description' | 'ip_address' | 'paused' | 'status'> & {
  runner_type: RunnerType;
};

const runner: Columns<RunnerRow> = {
  id: sql.ref('runners.id'),
  description: sql.ref('runners.description'),
  ip_address: sql`(
    select manager.ip_address from runner_managers manager where manager.runner_id = runners.id order by manager.contacted_at desc nulls last limit 1)`,
  paused: sql.ref('runners.paused'),
  runner_type: sql.ref('runners.runner_type'),
  status: statusOf('runners'),
};

/** The runner of a row of `commit_statuses`. */
export const runnerOfJob = sql<RunnerRow | null>`(
  select ${objectInJson(runner)} from runners where runners.id = commit_statuses.runner_id)`;

const manager: Columns<Static<typeof JobRunnerManager>> = {
  id: sql.ref('runner_managers.id'),
  system_id: sql.ref('runner_managers.system_id'),
  version: sql.ref('runner_managers.version'),
  revision: sql.ref('runner_managers.revision'),
  platform: sql.ref('runner_managers.platform'),
  architecture: sql.ref('runner_managers.architecture'),
  created_at: momentInJson('runner_managers.created_at'),
  contacted_at: momentInJson('runner_managers.contacted_at'),
  ip_address: sql.ref('runner_managers.ip_address'),
  status: statusOf('runner_managers'),
};

/** The manager of a row of `commit_statuses`; null when it is forgotten. */
export const managerOfJob = sql<Static<typeof JobRunnerManager> | null>`(
  select ${objectInJson(manager)} from runner_managers where runner_managers.id = commit_statuses.runner_manager_id)`;

/** A runner as its jobs show it. */
export const presentJobRunner = (row: RunnerRow): Static<typeof JobRunner> => ({
  ...row,
  active: !row.paused,
  is_shared: row.runner_type === 'instance_type',
  name: null,
  online: row.status === 'never_contacted' ? null : row.status === 'online',
});

export const HookRunner = Type.Object({
  id: Id,
  description: Type.String(),
  active: Type.Boolean(),
  is_shared: Type.Boolean(),
  runner_type: Type.Enum([...runnerTypes]),
  tags: Type.Array(Type.String()),
});

const hookRunner: Columns<Static<typeof HookRunner>> = {
  id: sql.ref('runners.id'),
  description: sql.ref('runners.description'),
  active: sql`not runners.paused`,
  is_shared: sql`runners.runner_type = 'instance_type'`,
  runner_type: sql.ref('runners.runner_type'),
  tags: sql.ref('runners.tag_list'),
};

/** The runner of a job as webhooks show it. */
export const hookRunnerOf = (runner_id: RawBuilder<unknown>) =>
  sql<Static<
    typeof HookRunner
  > | null>`(select ${objectInJson(hookRunner)} from runners where runners.id = ${runner_id})`;
