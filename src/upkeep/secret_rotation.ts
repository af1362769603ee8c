/** The change of the secret key of a server (docs/operating.md, "A new secret key"). */
import { sql } from 'kysely';
import type { Database } from '../db/index.ts';
import { fingerprintOf, type SealedColumn, type SealedPurpose, type Secrets, sealedColumns } from '../secrets/index.ts';

export interface Rotation {
  from: Secrets;
  to: Secrets;
}

/** How many values were encrypted anew, and how many were left because the old key does not decrypt them. */
export interface Rotated {
  changed: number;
  unreadable: number;
}

const rowsAtOnce = 1000;

/**
 * Encrypts all values anew, and stores the fingerprint of the new key.
 * @param tx a transaction while no other process uses the database
 */
export async function rotateSecret(tx: Database, rotation: Rotation): Promise<Rotated> {
  const rotated: Rotated = { changed: 0, unreadable: 0 };
  for (const [purpose, columns] of Object.entries(sealedColumns) as [SealedPurpose, readonly SealedColumn[]][])
    for (const column of columns) {
      const { changed, unreadable } = await rotateColumn(tx, purpose, column, rotation);
      rotated.changed += changed;
      rotated.unreadable += unreadable;
    }
  await tx
    .updateTable('instance')
    .set({ secret_fingerprint: fingerprintOf(rotation.to) })
    .execute();
  return rotated;
}

async function rotateColumn(
  tx: Database,
  purpose: SealedPurpose,
  names: SealedColumn,
  { from, to }: Rotation,
): Promise<Rotated> {
  const [table, column, key] = [sql.table(names.table), sql.ref(names.column), sql.ref(names.key)];
  const rotated: Rotated = { changed: 0, unreadable: 0 };
  for (let last = 0; ; ) {
    const { rows } = await sql<{ id: number; sealed: Buffer }>`
      select ${key} as id, ${column} as sealed from ${table}
       where ${key} > ${last} and ${column} is not null order by ${key} limit ${rowsAtOnce}`.execute(tx);
    if (rows.length === 0) return rotated;
    last = rows.at(-1)!.id;
    const texts = rows.map(({ id, sealed }) => ({ id, text: from.unseal(purpose, sealed) }));
    const readable = texts.filter((each): each is { id: number; text: string } => each.text !== undefined);
    await sql`
      update ${table} set ${column} = anew.bytes
        from unnest(${readable.map(({ id }) => id)}::bigint[], ${readable.map(({ text }) => to.seal(purpose, text))}::bytea[]) as anew (row_id, bytes)
       where ${key} = row_id`.execute(tx);
    rotated.changed += readable.length;
    rotated.unreadable += rows.length - readable.length;
  }
}
