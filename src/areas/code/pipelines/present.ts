/** How pipelines appear in replies (docs/reference/pipelines.md). */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { pagePath } from '../../../foundation/addresses.ts';
import { Id, nullable, resource, Timestamp } from '../../../http/index.ts';
import { presentUserBasic, UserBasic, type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import { labels, type State, states } from './rules.ts';

export const pipelinePage = pagePath('/:project/-/pipelines/:pipeline_id');

const fields = {
  id: Id,
  iid: Type.Integer(),
  project_id: Id,
  sha: Type.String(),
  ref: Type.String(),
  status: Type.Enum(states),
  source: Type.Enum(['external'], { description: 'Jobs run elsewhere' }),
  created_at: Timestamp,
  updated_at: Timestamp,
  web_url: Type.String(),
};
/** The form embedded in other replies. */
export const PipelineBasic = resource('PipelineBasic', fields);
const listed = { ...fields, name: Type.Null() };
export const Pipeline = resource('Pipeline', listed);
export const PipelineDetail = resource('PipelineDetail', {
  ...listed,
  before_sha: Type.String({ description: 'Always forty zeroes' }),
  tag: Type.Boolean({ description: 'Whether `ref` is a tag' }),
  yaml_errors: Type.Null(),
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
  ...(['pipelines.created_at', 'pipelines.updated_at'] as const),
] as const;

export interface PipelineRow {
  id: number;
  iid: number;
  project_id: number;
  sha: string;
  ref: string;
  status: State;
  created_at: string;
  updated_at: string;
}

export interface PipelineDetailRow extends PipelineRow {
  tag: boolean;
  user: UserBasicRow | null;
  started_at: string | null;
  finished_at: string | null;
  coverage: string | null;
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
  { id, iid, project_id, sha, ref, status, created_at, updated_at }: PipelineRow,
): Static<typeof PipelineBasic> => ({
  ...{ id, iid, project_id, sha, ref, status, source: 'external' as const, created_at, updated_at },
  web_url: url + pipelinePage(full_path, id),
});

export const presentPipeline = (url: string, full_path: string, row: PipelineRow): Static<typeof Pipeline> => ({
  ...presentBasicPipeline(url, full_path, row),
  name: null,
});

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
  const label = labels[status];
  return {
    ...presentPipeline(url, full_path, row),
    before_sha: '0'.repeat(40),
    tag,
    yaml_errors: null,
    user: user && presentUserBasic(url, user),
    started_at,
    finished_at,
    committed_at: null,
    duration: whole(secondsBetween(started_at, finished_at)),
    queued_duration: whole(secondsBetween(created_at, started_at)),
    coverage,
    archived: false,
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
