/** Webhook events for pipelines and jobs (docs/reference/pipelines.md#webhooks). */
import { type RawBuilder, sql } from 'kysely';
import { type Database, plainColumns } from '../../../db/index.ts';
import { type Sample, sampled } from '../../activity/hooks/index.ts';
import { newsInProjects, tellEach } from '../../instance/hook_events/index.ts';
import { jobEvent, pipelineEvent } from './hook_present.ts';

/** @param which a predicate on rows of `pipelines`, and what may follow it */
const pipelineNews = (which: RawBuilder<unknown>) =>
  newsInProjects('pipelines', plainColumns('pipelines', ['user_id']), which);

/** @param which a predicate on rows of `commit_statuses`, and what may follow it */
const jobNews = (which: RawBuilder<unknown>) =>
  newsInProjects(
    'commit_statuses',
    {
      ...plainColumns('commit_statuses', ['user_id']),
      pipeline_id: sql<number>`commit_statuses.pipeline_id`,
    },
    sql`commit_statuses.pipeline_id is not null and ${which}`,
  );

/** @param tx the transaction in which the status of a pipeline changed */
export const tellOfPipeline = (tx: Database, id: number): Promise<void> =>
  tellEach(tx, pipelineEvent, pipelineNews(sql`pipelines.id = ${id}`));

/** @param tx the transaction in which statuses were reported, or the states of jobs changed */
export const tellOfJobs = (tx: Database, ids: readonly number[]): Promise<void> =>
  tellEach(tx, jobEvent, jobNews(sql`commit_statuses.id = any(${ids}::bigint[]) order by commit_statuses.id`));

/** The newest pipeline of a project. */
export const samplePipeline: Sample = async (_services, { project_id }) =>
  sampled(pipelineEvent, pipelineNews(sql`pipelines.project_id = ${project_id} order by pipelines.id desc`));

/** The newest job of a project. */
export const sampleJob: Sample = async (_services, { project_id }) =>
  sampled(jobEvent, jobNews(sql`commit_statuses.project_id = ${project_id} order by commit_statuses.id desc`));
