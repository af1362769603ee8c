/** Migrations in the tests: started, run to their end, and shown. */
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { pack } from 'tar-stream';
import { bulkImportWork } from '../../src/areas/migration/bulk_imports/index.ts';
import { groupTrees, projectTrees } from '../../src/areas/migration/relations.ts';
import { performQueued } from './jobs.ts';
import { type MigrationPlace, migrationOf } from './source.ts';
import type { World } from './world.ts';

const { jobs, polls } = bulkImportWork({ group: groupTrees, project: projectTrees });

/** Runs all migrations to their end. */
export const runMigrations = ({ services }: World): Promise<string[]> => performQueued(services, [...jobs, ...polls]);

/** Starts a migration of the place. @returns its ID */
export async function migrated(here: MigrationPlace, changes?: object): Promise<number> {
  // Of a test that failed.
  await sql`delete from bulk_imports where state in ('created', 'started')`.execute(here.db);
  await sql`delete from request_counts where name = 'bulk_import'`.execute(here.db);
  const begun = await here.as('owner').post('/bulk_imports', migrationOf(here.source, [here.entity(changes)]));
  assert.equal(begun.status, 201, JSON.stringify(begun.body));
  return begun.body.id;
}

export interface ShownEntity {
  id: number;
  status: string;
  source_full_path: string;
  destination_full_path: string | null;
  namespace_id: number | null;
  project_id: number | null;
  failures: { relation: string; exception_class: string; exception_message: string }[];
  stats: Record<string, { source: number; fetched: number; imported: number }>;
}

/** The entities of a migration, oldest first. */
export const entitiesOf = async ({ as }: World, id: number): Promise<ShownEntity[]> =>
  (await as('owner').get(`/bulk_imports/${id}/entities`)).body;

/** A compressed archive with these files. */
export async function archive(files: Record<string, string | Buffer>): Promise<Buffer> {
  const packed = pack();
  for (const [name, content] of Object.entries(files)) packed.entry({ name }, content);
  packed.finalize();
  return gzipSync(await buffer(packed));
}
