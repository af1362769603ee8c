/** Exporting the relations of a project until the server is killed. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import pino from 'pino';
import { continueExports } from '../../src/areas/migration/export_relations/index.ts';
import type { BlobKey } from '../../src/blobs/index.ts';
import type { JobServices } from '../../src/services/index.ts';
import type { Client } from '../support/client.ts';
import { asked, type Project, type Round } from './writers.ts';

const pause_ms = 50;

/** Exports what is written to, again and again: batched exports are always made anew. */
export async function exportRelations(api: Client, project: Project, round: Round): Promise<void> {
  for (let count = 0; !round.isOver; count++) {
    const batched = count % 2 === 0;
    await asked(round, 'an export', api.post(`/projects/${project.id}/export_relations`, { batched }));
    await new Promise((resolve) => setTimeout(resolve, pause_ms));
  }
}

/** Lets the time pass until every export has ended, as servers do with what a crash has left. */
export async function exportsEnded({ db, ...services }: JobServices, jobsEnded: () => Promise<void>): Promise<void> {
  const log = pino({ level: 'silent' });
  for (;;) {
    await sql`update relation_export_files set due_at = now() where status = 0`.execute(db);
    await continueExports.run({ ...services, db, log });
    await jobsEnded();
    if ((await sql`select from relation_export_files where status = 0`.execute(db)).rows.length === 0) return;
  }
}

/** Every export is whole: it has finished, its files are what their rows say, and each other file is recorded as unused. */
export async function inspectExports({ db, blobs }: JobServices): Promise<void> {
  const wrong = await db
    .selectFrom('relation_exports')
    .select(['relation', 'error'])
    .where('status', '<>', 1)
    .execute();
  assert.deepEqual(wrong, []);
  const { rows } = await sql<{ key: BlobKey; sha256: string }>`
    select blob_key as key, sha256 from relation_export_files where blob_key is not null`.execute(db);
  for (const { key, sha256 } of rows) {
    const hash = createHash('sha256');
    for await (const chunk of (await blobs.read(key))!) hash.update(chunk);
    assert.equal(hash.digest('hex'), sha256, key);
  }
  const unused = await db.selectFrom('unused_blobs').select('key').execute();
  const known = new Set([...rows, ...unused].map(({ key }) => key));
  for await (const key of blobs.keys('relation_exports')) assert.ok(known.has(key), key);
}
