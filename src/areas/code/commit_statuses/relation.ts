/** Exports and imports commit statuses, as external pipelines, one per commit and ref (docs/reference/relations_export.md#ci_pipelines). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { commitKind } from '../../../access/index.ts';
import { momentInJson } from '../../../db/index.ts';
import {
  choice,
  column,
  columnOr,
  flag,
  person,
  type RecordKind,
  type Relation,
  real,
  required,
  sha,
  shown,
  text,
  time,
} from '../../../relations/index.ts';
import { tooLong } from '../../../texts/index.ts';
import { assignStatuses } from '../pipelines/assignment_actions.ts';
import { reportedStates } from '../pipelines/rules.ts';
import { addressProblems } from './rules.ts';

const short = (value: string) => tooLong(value, 255);

/** The statuses of the commit and ref of a row of `commit_statuses`. */
const all = (wanted: RawBuilder<unknown>) => sql`(
  select ${wanted} from commit_statuses status
   where status.kind = 'status' and status.project_id = commit_statuses.project_id and status.sha = commit_statuses.sha and status.ref = commit_statuses.ref)`;

/** The worst of the current statuses, which is the status of their pipeline. */
const overall = all(sql`
  case when bool_or(status.status = 'failed' and not retried) then 'failed' when bool_or(status.status = 'canceled' and not retried) then 'canceled'
       when bool_or(status.status = 'running' and not retried) then 'running' when bool_or(status.status = 'pending' and not retried) then 'pending'
       when bool_or(status.status = 'success' and not retried) then 'success' else 'skipped' end`);

const single = sql`json_build_object(
  'name', name, 'status', status.status, 'ref', ref, 'description', description, 'target_url', target_url, 'coverage', coverage, 'allow_failure', false,
  'retried', retried, 'type', 'GenericCommitStatus', 'stage_idx', 0, 'user_id', user_id, 'created_at', ${momentInJson('created_at')}, 'updated_at',
  ${momentInJson('created_at')}, 'started_at', ${momentInJson('started_at')}, 'finished_at', ${momentInJson('finished_at')})`;

/** A column of the pipeline of a row of `commit_statuses`; null while a status from before an upgrade waits to be assigned to a pipeline. */
const ofPipeline = (name: 'iid' | 'tag' | 'status') => sql`(
  select ${sql.ref(`pipelines.${name}`)} from pipelines where pipelines.id = commit_statuses.pipeline_id)`;

/** A predicate on rows of `commit_statuses`: the oldest reported one of its commit and ref. Jobs of our own pipelines stay. */
const isFirst = sql<SqlBool>`commit_statuses.kind = 'status' and not exists (
  select from commit_statuses earlier where earlier.project_id = commit_statuses.project_id and earlier.sha = commit_statuses.sha
     and earlier.ref = commit_statuses.ref and earlier.kind = 'status' and earlier.id < commit_statuses.id)`;

const pipeline: RecordKind = {
  table: 'commit_statuses',
  owner: { project: 'project_id' },
  only: isFirst,
  isVisible: ({ caller }) =>
    sql`exists (select from projects where projects.id = commit_statuses.project_id and ${commitKind.isVisible(caller)})`,
  members: {
    iid: shown(ofPipeline('iid')),
    ref: shown(sql`commit_statuses.ref`),
    sha: shown(sql`commit_statuses.sha`),
    tag: shown(sql`coalesce(${ofPipeline('tag')}, false)`),
    status: shown(sql`coalesce(${ofPipeline('status')}, ${overall})`),
    source: shown(sql`'external'`),
    user_id: shown(sql`commit_statuses.user_id`),
    created_at: shown(momentInJson('commit_statuses.created_at')),
    updated_at: shown(momentInJson('commit_statuses.created_at')),
    started_at: shown(all(momentInJson(sql`min(started_at)`))),
    finished_at: shown(all(momentInJson(sql`max(finished_at)`))),
    stages: shown(sql`json_build_array(json_build_object(
      'name', 'external', 'status', ${overall}, 'position', 0,
      'generic_commit_statuses', ${all(sql`json_agg(${single} order by status.id)`)}, 'builds', '[]'::json, 'bridges', '[]'::json))`),
  },
  stays: {},
};

/** The columns that reported statuses do not use. */
const ofJobs = [
  ...(['kind', 'stage', 'stage_index', 'allow_failure', 'run_when', 'needs', 'failure_reason', 'queued_at'] as const),
  ...(['scheduled_at', 'interruptible', 'resource_group_id', 'environment', 'tags'] as const),
  ...(['runner_id', 'runner_manager_id', 'erased_at'] as const),
];

/** An imported status, with the commit and ref of its pipeline. */
const status: RecordKind = {
  table: 'commit_statuses',
  owner: { project: 'project_id' },
  title: 'name',
  members: {
    sha: required('sha', sha),
    ref: required('ref', text(short)),
    name: required('name', text(short)),
    status: required('status', choice(...reportedStates)),
    description: column('description', text(short)),
    target_url: column(
      'target_url',
      text((url) => [...short(url), ...addressProblems(url)]),
    ),
    coverage: column('coverage', real),
    retried: columnOr('retried', flag, false),
    user_id: person('user_id'),
    created_at: required('created_at', time),
    started_at: column('started_at', time),
    finished_at: column('finished_at', time),
  },
  stays: {
    pipeline_id: 'made anew here',
    ...Object.fromEntries(ofJobs.map((name) => [name, 'of jobs of our own, which stay'])),
  },
  follows: (tx, { owner }, rows) =>
    assignStatuses(tx, { project_id: owner.id, shas: [...new Set(rows.map(({ row }) => row.sha as string))] }),
};

const arrayIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const objectsIn = (value: unknown) =>
  arrayIn(value).filter((each): each is Record<string, unknown> => typeof each === 'object' && each !== null);

/** The commit statuses of a project. */
export const commitStatusPipelines: Relation = {
  name: 'ci_pipelines',
  kind: pipeline,
  is_batched: true,
  holds: {
    name: 'generic_commit_statuses',
    kind: status,
    records: ({ sha: commit, ref, stages }) =>
      objectsIn(stages).flatMap((stage) =>
        objectsIn(stage.generic_commit_statuses).map((each) => ({ ...each, sha: commit, ref: each.ref ?? ref })),
      ),
  },
};
