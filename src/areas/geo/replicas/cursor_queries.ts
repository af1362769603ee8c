/** Progress of this site, in rows that are not replicated. */
import type { Database } from '../../../db/index.ts';

/**
 * `recording`: the primary has a secondary, so changes are recorded. `selection`: the selection of a secondary at its
 * last full comparison.
 */
type Cursor = 'recording' | 'selection';

export async function cursorNamed(db: Database, name: Cursor): Promise<string | undefined> {
  const row = await db.selectFrom('geo_cursors').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value;
}

export async function setCursor(db: Database, name: Cursor, value: string): Promise<void> {
  await db
    .insertInto('geo_cursors')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

export async function forgetCursor(db: Database, name: Cursor): Promise<void> {
  await db.deleteFrom('geo_cursors').where('name', '=', name).execute();
}
