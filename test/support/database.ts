/** The database of a test file: its own copy of a migrated one, dropped when the file ends. */
import { after } from 'node:test';
import { connect, type Database } from '../../src/db/index.ts';
import { cloneDatabase, startTestServer } from './server.ts';

export interface TestDatabase {
  db: Database;
  connectionString: string;
}

/** Set by `npm test`: the template that its server holds. */
export const templateVariable = 'TEST_DATABASE_TEMPLATE';

let made: Promise<TestDatabase> | undefined;
const endings: (() => Promise<void>)[] = [];

// Registered while the test file is imported, so that it belongs to the file and not to a single test.
after(async () => {
  await made?.catch(() => {});
  for (const end of endings.reverse()) await end();
});

/**
 * The database of the calling test file; every call in one file answers the same.
 * A file that is run alone, with `node --test`, starts a PostgreSQL of its own.
 */
export function testDatabase(): Promise<TestDatabase> {
  made ??= make();
  return made;
}

async function make(): Promise<TestDatabase> {
  const template = process.env[templateVariable] ?? (await ownTemplate());
  const { connectionString, drop } = await cloneDatabase(template);
  endings.push(drop);
  const db = connect({ connectionString, max: 10 });
  endings.push(() => db.destroy());
  return { db, connectionString };
}

async function ownTemplate(): Promise<string> {
  const server = await startTestServer();
  endings.push(server.stop);
  return server.template;
}
