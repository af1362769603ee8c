/**
 * The runs that write the files of exports: each update is conditional on the run that makes it, so a run that another
 * has taken over changes nothing.
 */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { BegunFile } from './definition.ts';

export type Run = Pick<BegunFile, 'id' | 'run' | 'export_id'>;

/** Another run has started to write the file, or its export has ended. */
export class TakenOver extends Error {
  override name = 'TakenOver';
  constructor(id: number) {
    super(`Another run writes the file ${id}, or its export has ended.`);
  }
}

interface BegunRow extends Omit<BegunFile, 'batch' | 'owner'> {
  first_id: number | null;
  last_id: number | null;
  project_id: number | null;
  group_id: number | null;
}

/**
 * Starts to write the next waiting file, or the one that the last run in this slot left unfinished.
 * @param slot jobs of one slot run one after another, so no other job is writing a file of this slot
 */
export async function beginFile(db: Database, slot: number): Promise<BegunFile | undefined> {
  const { rows } = await sql<BegunRow>`
    update relation_export_files files set slot = ${slot}, run = files.run + 1, heard_at = now()
      from relation_exports exports
     where exports.id = files.export_id and files.id = coalesce(
       (select id from relation_export_files where status = 0 and slot = ${slot}),
       (select id from relation_export_files where status = 0 and slot is null and due_at <= now()
         order by due_at, id limit 1 for update skip locked))
    returning files.id, files.run, export_id, batch_number, first_id, last_id, failures, relation, batched, user_id, project_id, group_id`.execute(
    db,
  );
  const [row] = rows;
  if (!row) return undefined;
  const { first_id, last_id, project_id, group_id, ...file } = row;
  return {
    ...file,
    batch: first_id === null || last_id === null ? undefined : { first_id, last_id },
    owner: project_id === null ? { kind: 'group', id: group_id! } : { kind: 'project', id: project_id },
  };
}

/** Lets another slot write the file that the last run in this one left unfinished. */
export const leaveSlot = async (db: Database, slot: number): Promise<void> => {
  await db
    .updateTable('relation_export_files')
    .set({ slot: null })
    .where('status', '=', 0)
    .where('slot', '=', slot)
    .execute();
};

const ownFile = (tx: Database, { id, run }: Run) =>
  tx
    .selectFrom('relation_export_files')
    .select('id')
    .where('id', '=', id)
    .where('run', '=', run)
    .where('status', '=', 0);

/** @throws TakenOver */
export async function confirmRun(db: Database, file: Run, isMoving: boolean): Promise<void> {
  const heard = isMoving ? sql<string>`now()` : sql.ref<string>('heard_at');
  const { id, run } = file;
  const own = db
    .updateTable('relation_export_files')
    .set({ heard_at: heard })
    .where('id', '=', id)
    .where('run', '=', run);
  if (!(await own.where('status', '=', 0).returning('id').executeTakeFirst())) throw new TakenOver(id);
}

/**
 * Runs a change that only the latest run of a file may make. The export is locked first, in the same order as when it
 * is deleted.
 * @throws TakenOver
 */
export const asItsRun = (db: Database, file: Run, work: (tx: Database) => Promise<void>): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await tx.selectFrom('relation_exports').select('id').where('id', '=', file.export_id).forUpdate().execute();
    if (!(await ownFile(tx, file).executeTakeFirst())) throw new TakenOver(file.id);
    await work(tx);
  });
