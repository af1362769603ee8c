/** Queries for jobs that are handed out. */
import type { Database } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';
import type { PipelineOfJob } from './variable_queries.ts';

/** A pipeline as its jobs know it. */
export async function pipelineOfJob(db: Database, id: number): Promise<PipelineOfJob> {
  const row = await db
    .selectFrom('pipelines')
    .innerJoin('projects', 'projects.id', 'pipelines.project_id')
    .select(['pipelines.id', 'iid', 'source', 'sha', 'ref', 'tag', 'before_sha', 'pipelines.name'])
    .select(['pipelines.created_at', 'is_protected', 'predefined'])
    .select(['build_git_strategy', 'ci_default_git_depth', 'ci_separated_caches'])
    .where('pipelines.id', '=', id)
    .executeTakeFirst();
  const { source, predefined, ...pipeline } = found('Pipeline', row);
  return {
    ...pipeline,
    source: source as PipelineOfJob['source'],
    predefined: predefined as PipelineOfJob['predefined'],
  };
}
