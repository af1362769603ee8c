/** Starting exports (docs/reference/relations_export.md#starting). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { audit } from '../../instance/audit_events/index.ts';
import type { ExportOwner } from './definition.ts';
import { startWriting } from './jobs.ts';
import { removeExpired, waitsAgain } from './queries.ts';
import { relationsOf } from './relation_definition.ts';

/**
 * Starts the export of every relation, unless it is running or has just finished. Files of earlier exports stay until
 * the new ones are complete.
 * @param batched whether large relations are split into batches
 */
export const startExports = (
  db: Database,
  user_id: number,
  { kind, id }: ExportOwner,
  batched: boolean,
): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await removeExpired(tx);
    const relations = relationsOf[kind];
    const [project_id, group_id] = kind === 'project' ? [id, null] : [null, id];
    const { rows } = await sql<{ id: number }>`
      insert into relation_exports (user_id, project_id, group_id, relation, batched)
      select ${user_id}, ${project_id}::bigint, ${group_id}::bigint, relation, batched
        from unnest(${relations.map(({ name }) => name)}::text[], ${relations.map(({ is_batched }) => batched && is_batched)}::boolean[])
             with ordinality wanted(relation, batched, place) order by place
      on conflict (user_id, project_id, group_id, relation) do update
         set batched = excluded.batched, status = 0, error = null, batches_count = 0, total_objects_count = 0, updated_at = now()
       where relation_exports.status <> 0
         and (${batched} or relation_exports.status <> 1 or relation_exports.batched or relation_exports.updated_at < now() - ${reusable})
      returning id`.execute(tx);
    await sql`
      insert into relation_export_files as files (export_id, batch_number) select unnest(${rows.map((row) => row.id)}::bigint[]), 0
      on conflict (export_id, batch_number) do update set ${waitsAgain}`.execute(tx);
    await startWriting(tx);
    await audit(tx, {
      event_name: 'direct_transfer_relations_export_initiated',
      entity: { type: kind === 'project' ? 'Project' : 'Group', id },
      details: { custom_message: 'Export of all relations requested' },
    });
  });

/** For this long, a finished unbatched export is reused for a new request. */
const reusable = sql`interval '3 minutes'`;
