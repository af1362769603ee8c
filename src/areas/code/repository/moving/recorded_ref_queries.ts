/** The positions of branches and tags as recorded in the database, so that a check detects refs that moved without the server. */
import { sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../../db/index.ts';
import type { RefUpdate } from '../../../../git/index.ts';

/** Tables with one row per branch and tag of their owners. */
const owners = { recorded_refs: 'project_id', recorded_wiki_refs: 'wiki_id' } as const;

type RecordingTable = keyof typeof owners;

/** The recorded positions of an owner's branches and tags, by full name. */
export async function recordedRefsIn(
  db: Database,
  table: RecordingTable,
  owner_id: number,
): Promise<Map<string, string>> {
  const { rows } = await sql<{ ref: string; target: string }>`
    select ref, target from ${sql.table(table)} where ${sql.ref(owners[table])} = ${owner_id} order by ref`.execute(db);
  return new Map(rows.map(({ ref, target }) => [ref, target]));
}

/**
 * Records the positions of branches and tags.
 * @param move has the id of the journal row; an earlier move does not overwrite it
 */
export async function recordRefsIn(
  tx: Database,
  table: RecordingTable,
  owner_id: number,
  { moved, update_id }: { moved: readonly Pick<RefUpdate, 'ref' | 'new'>[]; update_id: number },
): Promise<void> {
  const [here, owner] = [sql.table(table), sql.ref(owners[table])];
  const ours = moved.filter(({ ref }) => /^refs\/(heads|tags)\//.test(ref));
  const set = ours.filter((update) => update.new !== null);
  const removed = ours.filter((update) => update.new === null).map(({ ref }) => ref);
  if (set.length > 0)
    await sql`
      insert into ${here} (${owner}, ref, target, update_id)
      select ${owner_id}, ref, target, ${update_id}
        from unnest(${set.map(({ ref }) => ref)}::text[], ${set.map((update) => update.new)}::text[]) moved(ref, target)
          on conflict (${owner}, ref) do update set target = excluded.target, update_id = excluded.update_id
       where ${here}.update_id < excluded.update_id`.execute(tx);
  if (removed.length > 0)
    await sql`delete from ${here} where ${owner} = ${owner_id} and ref = any(${ofAnyLength(removed, 'text[]')}) and update_id < ${update_id}`.execute(
      tx,
    );
}
