/** Webhook events for pipelines and jobs (docs/reference/pipelines.md#webhooks). */
import { type RawBuilder, sql } from 'kysely';
import { mergeRequestKind } from '../../../access/index.ts';
import { type Database, momentInJson } from '../../../db/index.ts';
import {
  commitFacts,
  commitPlace,
  hole,
  pageFacts,
  personFacts,
  projectFacts,
  repositoryFacts,
  type Sample,
} from '../../activity/hooks/index.ts';
import { tellEach } from '../../instance/hook_events/index.ts';
import { pipelinePage } from './present.ts';
import { labels, stage, states } from './rules.ts';

/** The most builds in a body; the newest are kept. */
const mostBuilds = sql.lit(1000);

const noCommit = sql.lit('0'.repeat(40));
const stageName = sql.lit(stage);
const labelOf = (status: RawBuilder<unknown>) =>
  sql`case ${status} ${sql.join(
    states.map((state) => sql`when ${sql.lit(state)} then ${sql.lit(labels[state])}`),
    sql` `,
  )} end`;

/** The seconds from one column to another. */
const seconds = (from: string, to: string) =>
  sql`round(extract(epoch from ${sql.ref(to)} - ${sql.ref(from)})::numeric, 3)::double precision`;

/** @param which a predicate on rows of `pipelines` */
const pipelineRows = (which: RawBuilder<unknown>) => sql`
  select pipelines.*, namespaces.traversal_ids as group_ids
    from pipelines join projects on projects.id = pipelines.project_id join namespaces on namespaces.id = projects.namespace_id
   where ${which}`;

const buildsOf = sql`(
  select coalesce(json_agg(json_build_object(
           'id', build.id, 'stage', ${stageName}, 'name', build.name, 'status', build.status, 'created_at', ${momentInJson('build.created_at')},
           'started_at', ${momentInJson('build.started_at')}, 'finished_at', ${momentInJson('build.finished_at')},
           'duration', ${seconds('build.started_at', 'build.finished_at')}, 'queued_duration', ${seconds('build.created_at', 'build.started_at')},
           'failure_reason', null, 'when', 'on_success', 'manual', false, 'allow_failure', false, 'user', ${personFacts(sql`build.user_id`)},
           'runner', null, 'artifacts_file', json_build_object('filename', null, 'size', null), 'environment', null) order by build.id desc), '[]')
    from (select * from commit_statuses where pipeline_id = news.id and not retried order by id desc limit ${mostBuilds}) build)`;

/** The open merge request into the project whose head is the pipeline's commit; the newest if there are several. */
const mergeRequestOf = sql`(
  select json_build_object(
           'id', m.id, 'iid', m.iid, 'title', m.title, 'source_branch', m.source_branch, 'source_project_id', m.source_project_id,
           'target_branch', m.target_branch, 'target_project_id', m.project_id, 'state', m.state, 'merge_status', m.merge_status,
           'url', ${pageFacts(mergeRequestKind.page, sql`m.project_id`, sql`m.iid`)})
    from ${sql.table(mergeRequestKind.table)} m
   where not news.tag and m.project_id = news.project_id and m.source_branch = news.ref and m.head_commit_id = news.sha and m.state = 'opened'
   order by m.id desc limit 1)`;

const pipelineFacts = sql`json_build_object(
  'object_kind', 'pipeline',
  'object_attributes', json_build_object(
    'id', news.id, 'iid', news.iid, 'name', null, 'ref', news.ref, 'tag', news.tag, 'sha', news.sha, 'before_sha', ${noCommit}::text,
    'source', 'external', 'status', news.status, 'detailed_status', ${labelOf(sql`news.status`)}, 'stages', json_build_array(${stageName}::text),
    'created_at', ${momentInJson('news.created_at')}, 'finished_at', ${momentInJson('news.finished_at')},
    'duration', ${seconds('news.started_at', 'news.finished_at')}, 'queued_duration', ${seconds('news.created_at', 'news.started_at')},
    'variables', '[]'::json, 'url', ${pageFacts(pipelinePage, sql`news.project_id`, sql`news.id`)}),
  'merge_request', ${mergeRequestOf}, 'user', ${personFacts(sql`news.user_id`)}, 'project', ${projectFacts(sql`news.project_id`)},
  'commit', ${commitFacts(sql`news.project_id`, sql`news.sha`)}, 'builds', ${buildsOf})`;

/** @param which a predicate on rows of `commit_statuses` */
const jobRows = (which: RawBuilder<unknown>) => sql`
  select commit_statuses.*, pipelines.tag, pipelines.status as pipeline_status, pipelines.started_at as pipeline_started_at,
         pipelines.finished_at as pipeline_finished_at, namespaces.traversal_ids as group_ids, projects.full_path
    from commit_statuses join pipelines on pipelines.id = commit_statuses.pipeline_id
    join projects on projects.id = commit_statuses.project_id join namespaces on namespaces.id = projects.namespace_id
   where ${which}`;

const jobFacts = sql`json_build_object(
  'object_kind', 'build', 'ref', news.ref, 'tag', news.tag, 'before_sha', ${noCommit}::text, 'sha', news.sha, 'build_id', news.id,
  'build_name', news.name, 'build_stage', ${stageName}::text, 'build_status', news.status, 'build_created_at', ${momentInJson('news.created_at')},
  'build_started_at', ${momentInJson('news.started_at')}, 'build_finished_at', ${momentInJson('news.finished_at')},
  'build_duration', ${seconds('news.started_at', 'news.finished_at')}, 'build_queued_duration', ${seconds('news.created_at', 'news.started_at')},
  'build_allow_failure', false, 'build_failure_reason', 'unknown_failure', 'pipeline_id', news.pipeline_id, 'runner', null,
  'project_id', news.project_id, 'project_name', news.full_path, 'user', ${personFacts(sql`news.user_id`)},
  'commit', ${hole(
    'authored',
    sql`json_build_object(
    'place', ${commitPlace(sql`news.project_id`, sql`news.sha`)},
    'also', json_build_object(
      'id', news.pipeline_id, 'name', null, 'sha', news.sha, 'status', news.pipeline_status,
      'duration', ${seconds('news.pipeline_started_at', 'news.pipeline_finished_at')}, 'started_at', ${momentInJson('news.pipeline_started_at')},
      'finished_at', ${momentInJson('news.pipeline_finished_at')}))`,
  )},
  'repository', ${repositoryFacts(sql`news.project_id`)}, 'project', ${projectFacts(sql`news.project_id`)}, 'environment', null)`;

/** @param tx the transaction in which the status of a pipeline changed */
export const tellOfPipeline = (tx: Database, id: number): Promise<void> =>
  tellEach(tx, {
    trigger: 'pipeline_events',
    to_system: false,
    rows: pipelineRows(sql`pipelines.id = ${id}`),
    facts: pipelineFacts,
  });

/** @param tx the transaction in which a status was reported */
export const tellOfJob = (tx: Database, id: number): Promise<void> =>
  tellEach(tx, {
    trigger: 'job_events',
    to_system: false,
    rows: jobRows(sql`commit_statuses.id = ${id}`),
    facts: jobFacts,
  });

/** The newest pipeline of a project. */
export const samplePipeline: Sample = async (_services, { project_id }) => sql`
  (select ${pipelineFacts} from (${pipelineRows(sql`pipelines.project_id = ${project_id}`)} order by pipelines.id desc limit 1) news)`;

/** The newest job of a project. */
export const sampleJob: Sample = async (_services, { project_id }) => sql`
  (select ${jobFacts} from (${jobRows(sql`commit_statuses.project_id = ${project_id}`)} order by commit_statuses.id desc limit 1) news)`;
