/** Jobs that wait for a runner in vain (docs/reference/runner_protocol.md#silence). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { runnerTypes } from '../../code/runners/index.ts';
import { served } from './taking_queries.ts';

export interface WaitingJob {
  id: number;
  pipeline_id: number;
  project_id: number;
}

/** A job waits no longer for a runner. */
const longest_h = 24;
/** A job with tags that no runner has waits no longer. */
const unmatched_h = 1;

const mostAtOnce = 100;

async function waitingFor(db: Database, hours: number, where: RawBuilder<SqlBool>): Promise<WaitingJob[]> {
  const { rows } = await sql<WaitingJob>`
    select job.id, job.pipeline_id, job.project_id from commit_statuses job join projects on projects.id = job.project_id
     where job.kind = 'job' and job.status = 'pending' and queued_at < now() - make_interval(hours => ${sql.lit(hours)}) and ${where}
     order by job.id limit ${sql.lit(mostAtOnce)}`.execute(db);
  return rows;
}

const runner = {
  runner_id: sql.ref<number>('runners.id'),
  namespace_id: sql.ref<number | null>('runners.namespace_id'),
};

/** Whether a runner, which may be paused or switched off now, could take a job with tags. */
const isMatched = sql<SqlBool>`exists (
  select from runners
   where job.tags <@ tag_list and (access_level = 'not_protected' or exists (select from pipelines where pipelines.id = job.pipeline_id and is_protected))
     and (${sql.join(
       runnerTypes.map((type) => sql`(runner_type = ${sql.lit(type)} and ${served[type](runner)})`),
       sql` or `,
     )}))`;

/** Jobs that have waited too long for a runner, whichever it be. */
export const waitingTooLong = (db: Database): Promise<WaitingJob[]> => waitingFor(db, longest_h, sql`true`);

/** Jobs with tags that no runner of their project has. */
export const waitingUnmatched = (db: Database): Promise<WaitingJob[]> =>
  waitingFor(db, unmatched_h, sql`cardinality(job.tags) > 0 and not ${isMatched}`);
