/** Queries for pipelines. */
import { sql } from 'kysely';
import type { Static } from 'typebox';
import type { MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { found, type Services } from '../../../http/index.ts';
import { hasReadablePipelines } from './access.ts';
import {
  coverageOfPipeline,
  detailColumns,
  type PipelineBasic,
  type PipelineDetail,
  pipelineColumns,
  presentBasicPipeline,
  presentPipelineDetail,
  userOfPipeline,
} from './present.ts';
import type { State } from './rules.ts';

/** The pipelines of a project. */
export const pipelinesOf = (db: Database, project_id: number) =>
  db
    .selectFrom('pipelines')
    .select(pipelineColumns)
    .select((q) => q.ref('pipelines.status').$castTo<State>().as('status'))
    .where('pipelines.project_id', '=', project_id);

const detailsOf = (db: Database, project_id: number) =>
  pipelinesOf(db, project_id)
    .select(detailColumns)
    .select([userOfPipeline.as('user'), coverageOfPipeline.as('coverage')]);

type Place = Pick<Services, 'db' | 'url'>;

/**
 * A pipeline as a reply.
 * @throws ApiError 404
 */
export async function pipelineReply(
  { db, url }: Place,
  { id: project_id, full_path }: { id: number; full_path: string },
  id: number,
): Promise<Static<typeof PipelineDetail>> {
  const row = await detailsOf(db, project_id).where('pipelines.id', '=', id).executeTakeFirst();
  return presentPipelineDetail(url, full_path, found('Pipeline', row));
}

export interface Head {
  /** The pipelines of the first project come before those of the others. */
  projects: readonly number[];
  sha: string;
  /** A pipeline of this ref comes before others. */
  ref?: string;
}

/** The newest pipeline of a commit that the caller may read; undefined if there is none. */
const headRow = (db: Database, caller: MaybeCaller, { projects, sha, ref = '' }: Head) =>
  db
    .selectFrom('pipelines')
    .innerJoin('projects', 'projects.id', 'pipelines.project_id')
    .select([...pipelineColumns, ...detailColumns, 'full_path'])
    .select((q) => q.ref('pipelines.status').$castTo<State>().as('status'))
    .select([userOfPipeline.as('user'), coverageOfPipeline.as('coverage')])
    .where('pipelines.project_id', 'in', projects)
    .where('pipelines.sha', '=', sha)
    .where(hasReadablePipelines(caller))
    .orderBy(sql`pipelines.project_id = ${projects[0]}`, 'desc')
    .orderBy(sql`pipelines.ref = ${ref}`, 'desc')
    .orderBy('pipelines.id', 'desc')
    .limit(1)
    .executeTakeFirst();

/** The newest pipeline of a commit that the caller may read, in both forms; null if there is none. */
export async function headPipeline(
  { db, url }: Place,
  caller: MaybeCaller,
  head: Head,
): Promise<{ basic: Static<typeof PipelineBasic>; detail: Static<typeof PipelineDetail> } | null> {
  const row = await headRow(db, caller, head);
  if (!row) return null;
  return {
    basic: presentBasicPipeline(url, row.full_path, row),
    detail: presentPipelineDetail(url, row.full_path, row),
  };
}

/**
 * The row of a pipeline. The caller must have been granted access to the project.
 * @throws ApiError 404
 */
export async function pipelineIn(db: Database, project_id: number, id: number): Promise<{ id: number }> {
  const query = db.selectFrom('pipelines').select('id').where('project_id', '=', project_id).where('id', '=', id);
  return found('Pipeline', await query.executeTakeFirst());
}
