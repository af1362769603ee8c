/** Running a migration again, on rows as they were before it. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../../src/db/index.ts';

const folder = path.resolve(import.meta.dirname, '../../migrations');

/**
 * Runs the statements of a migration that changes rows only, in a transaction, once in a process.
 * @param number of its name, e.g. `0693`
 */
export async function mendBy(db: Database, number: string): Promise<void> {
  const [file] = globSync(`${number}_*.sql`, { cwd: folder });
  const statements = readFileSync(path.join(folder, file!), 'utf8').split(/;\s*\n/);
  await db.transaction().execute(async (tx) => {
    for (const statement of statements) if (statement.trim() !== '') await sql.raw(statement).execute(tx);
  });
}
