/** Lines of the server's own in the logs of jobs (docs/reference/job_logs.md). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/**
 * Writes lines of the server's own at the end of the logs of jobs that no runner appends to.
 * @param tx the transaction that says why
 */
export async function noteInLogs(tx: Database, notes: readonly { job_id: number; line: string }[]): Promise<void> {
  if (notes.length === 0) return;
  await sql`
    with given as materialized (
      select job_id, convert_to(line || E'\\n', 'UTF8') as content from jsonb_to_recordset(${JSON.stringify(notes)}::jsonb) row(job_id bigint, line text)
    ), grown as (
      insert into job_logs as log (job_id, kept_size) select job_id, length(content) from given
      on conflict (job_id) do update set kept_size = log.kept_size + excluded.kept_size
      returning job_id, kept_size
    )
    insert into job_log_pieces (job_id, position, content)
    select job_id, kept_size - length(content), content from grown join given using (job_id)`.execute(tx);
}
