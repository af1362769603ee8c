/** Queries for jobs that are handed out. */
import type { Database } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';
import type { PipelineOfJob } from './variable_queries.ts';

/** A pipeline as its jobs know it. */
export async function pipelineOfJob(db: Database, id: number): Promise<PipelineOfJob> {
  const columns = [
    'id',
    'iid',
    'source',
    'sha',
    'ref',
    'tag',
    'before_sha',
    'name',
    'created_at',
    'is_protected',
    'predefined',
  ] as const;
  const row = await db.selectFrom('pipelines').select(columns).where('id', '=', id).executeTakeFirst();
  const { source, predefined, ...pipeline } = found('Pipeline', row);
  return {
    ...pipeline,
    source: source as PipelineOfJob['source'],
    predefined: predefined as PipelineOfJob['predefined'],
  };
}
