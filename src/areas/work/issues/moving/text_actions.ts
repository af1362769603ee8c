/** Adapts texts of issues for another project or group, so that references and uploads keep their meaning. */
import { sql } from 'kysely';
import type { Issuable, Owner, Project } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { copyNotes, isOn } from '../../../conversation/notes/index.ts';
import { carryUploads } from '../../../conversation/uploads/index.ts';
import { withFullReferences } from './reference_rules.ts';

/** The source and the target of texts. */
export interface TextMove {
  source: Pick<Project, 'id' | 'full_path'>;
  target: Owner;
}

/**
 * Converts texts for storage elsewhere, with copies of their uploads, in order.
 * @param tx the transaction that stores them
 */
export async function textsElsewhere(
  tx: Database,
  texts: readonly string[],
  { source, target }: TextMove,
): Promise<string[]> {
  if (target.project_id === source.id) return [...texts];
  const full = await Promise.all(texts.map((text) => withFullReferences(text, source)));
  return carryUploads(tx, full, { project_id: source.id, group_id: null }, target);
}

/** Copies the comments of an issue to an issue or epic elsewhere. */
export async function copyNotesElsewhere(tx: Database, from: Issuable, to: Issuable, move: TextMove): Promise<void> {
  await copyNotes(tx, from, to);
  if (move.target.project_id === move.source.id) return;
  const notes = await tx.selectFrom('notes').select(['id', 'body']).where(isOn(to)).orderBy('id').execute();
  const bodies = await textsElsewhere(
    tx,
    notes.map(({ body }) => body),
    move,
  );
  const changed = notes
    .map((note, index) => ({ ...note, after: bodies[index]! }))
    .filter(({ body, after }) => body !== after);
  if (changed.length === 0) return;
  const [ids, after] = [changed.map(({ id }) => id), changed.map(({ after }) => after)];
  await sql`update notes set body = given.body from unnest(${ids}::bigint[], ${after}::text[]) given(id, body) where notes.id = given.id`.execute(
    tx,
  );
}
