/** The tables of a backup and their names. They come from the catalog, so that a new table needs no change here. */
import type pg from 'pg';

export interface Table {
  name: string;
  /** Those that are written; the database computes the others. */
  columns: string[];
}

/** Queued and running jobs. Without them, mail, deletions and the effects of pushes would be lost. */
export const jobsName = 'graphile_worker.jobs';

/** Those that have failed for good are left out: nothing runs them again. */
export const jobsQuery = `select tasks.identifier, jobs.payload, queues.queue_name, jobs.run_at, jobs.max_attempts, jobs.key, jobs.priority
  from graphile_worker._private_jobs jobs
  join graphile_worker._private_tasks tasks on tasks.id = jobs.task_id
  left join graphile_worker._private_job_queues queues on queues.id = jobs.job_queue_id
  where jobs.attempts < jobs.max_attempts or jobs.locked_at is not null
  order by jobs.id`;

/** Every table of ours, except the tables of extensions and of the migrator, which migrations recreate, and unlogged tables, whose rows can be derived again. */
export async function tablesOf(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relpersistence = 'p'
        and c.relname not in ('kysely_migration', 'kysely_migration_lock')
        and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
      group by c.oid order by c.relname collate "C"`,
  );
  return rows;
}

/** A name as SQL text. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A table's columns, in parentheses or behind `select`. */
export const columnList = ({ columns }: Table): string => columns.map(quoted).join(', ');
