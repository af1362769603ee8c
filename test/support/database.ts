/** Databases of tests: copies of a migrated one. A test file can have its own, which is dropped when it ends; the others share that of their process. */
import { sql } from 'kysely';
import { connect, type Database } from '../../src/db/index.ts';
import { atFileEnd, atProcessEnd } from './file_end.ts';
import { cloneDatabase, startTestServer, type TestServer } from './server.ts';

export interface TestDatabase {
  db: Database;
  connectionString: string;
}

/** Set by `npm test`: the template that its server holds. */
const templateVariable = 'TEST_DATABASE_TEMPLATE';

let made: Promise<TestDatabase> | undefined;
let shared: Promise<TestDatabase> | undefined;

/**
 * The database of the calling test file; every call in one file answers the same.
 * A file that is run alone, with `node --test`, starts a PostgreSQL of its own.
 */
export function testDatabase(): Promise<TestDatabase> {
  made ??= makeOwn();
  return made;
}

/** One more database for the calling test file. */
export const anotherDatabase = (): Promise<TestDatabase> => make(atFileEnd);

/** The database that all files of this process share: its connections stay warm, and know their tables and statements already. */
export function sharedDatabase(): Promise<TestDatabase> {
  shared ??= make(atProcessEnd);
  return shared;
}

/** A database without its tables, as it is before the first migration: that of the test file, or the given one. */
export async function emptyDatabase(given = testDatabase()): Promise<TestDatabase> {
  const database = await given;
  for (const schema of ['public', 'graphile_worker'])
    await sql`drop schema ${sql.ref(schema)} cascade`.execute(database.db);
  await sql`create schema public`.execute(database.db);
  return database;
}

function makeOwn(): Promise<TestDatabase> {
  atFileEnd(() => {
    made = undefined;
  });
  return make(atFileEnd);
}

async function make(atEnd: typeof atFileEnd): Promise<TestDatabase> {
  const template = process.env[templateVariable] ?? (await ownTemplate());
  const { connectionString, drop } = await cloneDatabase(template);
  atEnd(drop);
  const db = connect({ connectionString, max: 10 });
  atEnd(() => db.destroy());
  return { db, connectionString };
}

let ownServer: Promise<TestServer> | undefined;

/** Of a file that is run alone. */
async function ownTemplate(): Promise<string> {
  ownServer ??= startTestServer().then((server) => {
    atProcessEnd(server.stop);
    return server;
  });
  return (await ownServer).template;
}
