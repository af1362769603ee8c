/** The database of a test file: its own copy of a migrated one, dropped when the file ends. */
import { sql } from 'kysely';
import { connect, type Database } from '../../src/db/index.ts';
import { atFileEnd } from './file_end.ts';
import { cloneDatabase, startTestServer } from './server.ts';

export interface TestDatabase {
  db: Database;
  connectionString: string;
}

/** Set by `npm test`: the template that its server holds. */
const templateVariable = 'TEST_DATABASE_TEMPLATE';

let made: Promise<TestDatabase> | undefined;

/**
 * The database of the calling test file; every call in one file answers the same.
 * A file that is run alone, with `node --test`, starts a PostgreSQL of its own.
 */
export function testDatabase(): Promise<TestDatabase> {
  made ??= make();
  return made;
}

/** The same without its tables, as a database is before the first migration. */
export async function emptyDatabase(): Promise<TestDatabase> {
  const database = await testDatabase();
  for (const schema of ['public', 'graphile_worker']) await sql`drop schema ${sql.ref(schema)} cascade`.execute(database.db);
  await sql`create schema public`.execute(database.db);
  return database;
}

async function make(): Promise<TestDatabase> {
  atFileEnd(() => {
    made = undefined;
  });
  const template = process.env[templateVariable] ?? (await ownTemplate());
  const { connectionString, drop } = await cloneDatabase(template);
  atFileEnd(drop);
  const db = connect({ connectionString, max: 10 });
  atFileEnd(() => db.destroy());
  return { db, connectionString };
}

async function ownTemplate(): Promise<string> {
  const server = await startTestServer();
  atFileEnd(server.stop);
  return server.template;
}
