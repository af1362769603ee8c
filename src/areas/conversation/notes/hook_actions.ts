/** Telling hooks of comments (docs/reference/hooks.md#events). */
import { sql } from 'kysely';
import type { OnNoteable } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { noteFacts, type Sample } from '../../activity/hooks/index.ts';
import { addHookEvent, hooksAsking } from '../../instance/hook_events/index.ts';

/** Whether not everyone who reads the project may read a comment: it is internal, or on a confidential issue. */
const isConfidential = async (db: Database, id: number): Promise<boolean> => {
  const { rows } = await sql<{ is: boolean }>`
    select internal or exists (select from issues where issues.id = notes.issue_id and confidential) as is from notes where id = ${id}`.execute(
    db,
  );
  return rows[0]?.is ?? false;
};

/**
 * Leaves an event about a comment in a project, except for comments on epics.
 * @param tx the transaction that writes it
 */
export async function tellOfNote(
  tx: Database,
  { caller, on }: OnNoteable,
  note_id: number,
  action: 'create' | 'update',
): Promise<void> {
  if (!('project' in on.in)) return;
  const project_id = on.in.project.id;
  const asking = await hooksAsking(tx, { project_id }, ['note_events', 'confidential_note_events']);
  if (asking.length === 0) return;
  const confidential = await isConfidential(tx, note_id);
  const trigger = confidential ? 'confidential_note_events' : 'note_events';
  await addHookEvent(tx, asking, {
    trigger,
    facts: noteFacts({ id: note_id, project_id, actor_id: caller.id, action }, confidential),
  });
}

/** The newest comment in a project that everyone who reads it may read, as if it had been written. */
export const sampleNote: Sample = async ({ db }, { project_id, user_id }) => {
  const { rows } = await sql<{ id: number }>`
    select max(id) as id from (
      (select max(notes.id) as id from notes where project_id = ${project_id} and not system and not internal)
      union all
      (select notes.id from issues join notes on notes.issue_id = issues.id
        where issues.project_id = ${project_id} and not confidential and not system and not internal order by issues.updated_at desc, notes.id desc limit 1)
      union all
      (select notes.id from merge_requests m join notes on notes.merge_request_id = m.id
        where m.project_id = ${project_id} and not system and not internal order by m.updated_at desc, notes.id desc limit 1)
    ) newest where id is not null`.execute(db);
  const id = rows[0]?.id;
  return id ? noteFacts({ id, project_id, actor_id: user_id, action: 'create' }, false) : undefined;
};
