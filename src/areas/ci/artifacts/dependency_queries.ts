/** What a job gets from the jobs before it: their archives, and the variables of their `dotenv` reports (docs/reference/job_artifacts.md#variables-for-later-jobs). */
import { sql } from 'kysely';
import type { SelectedJob } from '../../../ci_configuration/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import type { DotenvVariable } from './rules.ts';

/** A job whose files another one gets. */
export interface Dependency {
  id: number;
  name: string;
  erased: boolean;
  /** Null without an archive. */
  filename: string | null;
  size: number | null;
}

/** The names of the jobs that a job gets files from; null for all of earlier stages. */
function namesIn({ job, needs }: SelectedJob): string[] | null {
  if (job.type === 'job' && job.dependencies) return [...job.dependencies];
  return needs?.flatMap((need) => (need.type === 'job' && need.artifacts ? [need.job] : [])) ?? null;
}

/** Whether the configuration of a job names those whose files it gets. */
export const namesDependencies = (definition: SelectedJob): boolean => namesIn(definition) !== null;

/** The jobs that a job gets files from, in their order. */
export async function dependenciesOf(db: Database, id: number, definition: SelectedJob): Promise<Dependency[]> {
  const names = namesIn(definition);
  const { rows } = await sql<Dependency>`
    select other.id, other.name, other.erased_at is not null as erased, archive.filename, archive.size_bytes as size
      from commit_statuses own join commit_statuses other on other.pipeline_id = own.pipeline_id and other.kind = 'job' and not other.retried
           left join job_artifacts archive on archive.job_id = other.id and archive.file_type = 'archive'
     where own.id = ${id} and other.id <> own.id
       and case when ${names}::text[] is null then other.stage_index < own.stage_index else other.name = any(${names}::text[]) end
     order by other.id`.execute(db);
  return rows;
}

/**
 * The variables that jobs left for later ones, those of earlier jobs first.
 * @param job_ids of the jobs that a job gets files from
 */
export async function dotenvOf(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  job_ids: readonly number[],
): Promise<DotenvVariable[]> {
  const rows = await db
    .selectFrom('job_dotenv_variables')
    .select(['key', 'value'])
    .where('job_id', '=', sql<number>`any(${[...job_ids]}::bigint[])`)
    .orderBy('job_id')
    .orderBy('id')
    .execute();
  return rows.flatMap(({ key, value }) => {
    const text = secrets.unseal('dotenv variable', value);
    return text === undefined ? [] : [{ key, value: text }];
  });
}
