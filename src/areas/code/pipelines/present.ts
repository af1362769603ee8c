/** How pipelines appear in replies (docs/reference/pipelines.md). */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { pagePath } from '../../../foundation/addresses.ts';
import { Id, nullable, optional, resource, Timestamp } from '../../../http/index.ts';
import { presentUserBasic, UserBasic, type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import { labels, type Source, type State, sources, states } from './rules.ts';

export const pipelinePage = pagePath('/:project/-/pipelines/:pipeline_id');

const fields = {
  id: Id,
  iid: Type.Integer(),
  project_id: Id,
  sha: Type.String(),
  ref: Type.String(),
  status: Type.Enum(states),
  source: Type.Enum(sources, { description: 'What started it; the jobs of `external` ones run elsewhere' }),
  created_at: Timestamp,
  updated_at: Timestamp,
  web_url: Type.String(),
};
/** The form embedded in other replies. */
export const PipelineBasic = resource('PipelineBasic', fields);
const listed = { ...fields, name: nullable(Type.String({ description: 'From `workflow:name`' })) };
export const Pipeline = resource('Pipeline', listed);
export const PipelineDetail = resource('PipelineDetail', {
  ...listed,
  /** Only of a pipeline that is asked for by its id. */
  upstream_pipeline: optional(nullable(Pipeline)),
  before_sha: Type.String({ description: 'The commit before the push; otherwise forty zeroes' }),
  tag: Type.Boolean({ description: 'Whether `ref` is a tag' }),
  yaml_errors: nullable(Type.String({ description: 'Why the configuration could not be compiled' })),
  failure_reason: nullable(Type.String({ description: '`config_error` if the configuration could not be compiled' })),
  user: nullable(UserBasic),
  started_at: nullable(Timestamp),
  finished_at: nullable(Timestamp),
  committed_at: Type.Null(),
  duration: nullable(Type.Integer({ description: 'Seconds' })),
  queued_duration: nullable(Type.Integer({ description: 'Seconds' })),
  coverage: nullable(Type.String({ description: 'The mean of what the current statuses say, in percent' })),
  archived: Type.Boolean(),
  detailed_status: Type.Object({
    icon: Type.String(),
    text: Type.String(),
    label: Type.String(),
    group: Type.String(),
    tooltip: Type.String(),
    has_details: Type.Boolean(),
    details_path: Type.String(),
    illustration: Type.Null(),
    favicon: Type.String({ description: 'Path of the icon of the server' }),
  }),
});

/** The columns that all forms of replies need. */
export const pipelineColumns = [
  ...(['pipelines.id', 'pipelines.iid', 'pipelines.project_id', 'pipelines.sha', 'pipelines.ref'] as const),
  ...(['pipelines.source', 'pipelines.name', 'pipelines.created_at', 'pipelines.updated_at'] as const),
] as const;

export interface PipelineRow {
  id: number;
  iid: number;
  project_id: number;
  sha: string;
  ref: string;
  status: State;
  source: string;
  name: string | null;
  created_at: string;
  updated_at: string;
}

/** The further columns of the detailed form. */
export const detailColumns = [
  ...(['pipelines.tag', 'pipelines.before_sha', 'pipelines.yaml_errors', 'pipelines.failure_reason'] as const),
  ...(['pipelines.started_at', 'pipelines.finished_at'] as const),
] as const;

export interface PipelineDetailRow extends PipelineRow {
  tag: boolean;
  before_sha: string | null;
  yaml_errors: string | null;
  failure_reason: string | null;
  user: UserBasicRow | null;
  started_at: string | null;
  finished_at: string | null;
  coverage: string | null;
  /** Whether it is too old to run again. */
  archived: boolean;
}

/** The user who started each row of `pipelines`. */
export const userOfPipeline: RawBuilder<UserBasicRow | null> = sql`(
  select ${userBasicJson('users')} from users where users.id = pipelines.user_id)`;

/** The coverage of each row of `pipelines`: the mean over its current statuses. */
export const coverageOfPipeline: RawBuilder<string | null> = sql`(
  select round(avg(coverage)::numeric, 2)::text from commit_statuses where pipeline_id = pipelines.id and not retried)`;

/** @param url the external address of the server */
export const presentBasicPipeline = (
  url: string,
  full_path: string,
  { id, iid, project_id, sha, ref, status, source, created_at, updated_at }: PipelineRow,
): Static<typeof PipelineBasic> => ({
  ...{ id, iid, project_id, sha, ref, status, source: source as Source, created_at, updated_at },
  web_url: url + pipelinePage(full_path, id),
});

export const presentPipeline = (url: string, full_path: string, row: PipelineRow): Static<typeof Pipeline> => ({
  ...presentBasicPipeline(url, full_path, row),
  name: row.name,
});

/** Stands for the commit before the first one. */
export const noCommit = '0'.repeat(40);

/** The seconds between two times; null unless both are set. */
export const secondsBetween = (from: string | null, to: string | null): number | null =>
  from === null || to === null ? null : Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000);

const whole = (seconds: number | null) => (seconds === null ? null : Math.round(seconds));

export const presentPipelineDetail = (
  url: string,
  full_path: string,
  row: PipelineDetailRow,
): Static<typeof PipelineDetail> => {
  const { id, status, tag, user, started_at, finished_at, coverage, created_at } = row;
  const { before_sha, yaml_errors, failure_reason, archived } = row;
  const label = labels[status];
  return {
    ...presentPipeline(url, full_path, row),
    before_sha: before_sha ?? noCommit,
    tag,
    yaml_errors,
    failure_reason,
    user: user && presentUserBasic(url, user),
    started_at,
    finished_at,
    committed_at: null,
    duration: whole(secondsBetween(started_at, finished_at)),
    queued_duration: whole(secondsBetween(created_at, started_at)),
    coverage,
    archived,
    detailed_status: {
      icon: `status_${status}`,
      text: label[0]!.toUpperCase() + label.slice(1),
      label,
      group: status,
      tooltip: label,
      has_details: true,
      details_path: pipelinePage(full_path, id),
      illustration: null,
      favicon: '/favicon.ico',
    },
  };
};
