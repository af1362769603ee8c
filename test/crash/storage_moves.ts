/** Moving repositories between storages until the server is killed. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { sql } from 'kysely';
import pino from 'pino';
import { continueMoves } from '../../src/areas/spaces/storage_moves/index.ts';
import { placeOf } from '../../src/git/index.ts';
import type { JobServices } from '../../src/services/index.ts';
import type { Client } from '../support/client.ts';
import { asked, type Memory, type Project, type Round } from './writers.ts';

/** Besides `default`: more than rounds are played in the time in which a repository does not return. */
const others = ['second', 'third', 'fourth', 'fifth', 'sixth', 'seventh'];

const pause_ms = 50;

/** Moves what is written to, and other projects and groups. */
export async function moveRepositories(
  api: Client,
  project: Project,
  round: Round,
  { projects, pages }: Memory,
): Promise<void> {
  for (let count = 0; !round.isOver; count++) {
    const created = [...projects.values()].flatMap(({ fate, id }) => (fate === 'done' ? [`/projects/${id}`] : []));
    const groups = [...pages.keys()].map((address) => address.replace(/\/wikis\/.*/, ''));
    const at = [`/projects/${project.id}`, created.at(-1), groups.at(-1)][count % 3];
    const destination_storage_name = others[round.number % others.length];
    if (at !== undefined)
      await asked(round, `a move of ${at}`, api.post(`${at}/repository_storage_moves`, { destination_storage_name }));
    // Writers have to find the repositories writable most of the time.
    await new Promise((resolve) => setTimeout(resolve, pause_ms));
  }
}

/** Lets the time pass until every move has ended, as servers do with what a crash has left. */
export async function movesEnded(services: JobServices, jobsEnded: () => Promise<void>): Promise<void> {
  const { db } = services;
  const log = pino({ level: 'silent' });
  for (;;) {
    await sql`
      update repository_storage_moves set replicated_at = replicated_at - interval '10 seconds', used_until = null where state = 'replicated'`.execute(
      db,
    );
    while (await continueMoves.run({ ...services, log }));
    await jobsEnded();
    const { rows } =
      await sql`select from repository_storage_moves where state in ('scheduled', 'started', 'replicated')`.execute(db);
    if (rows.length === 0) return;
  }
}

async function namesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true }).catch(() => []);
  return entries.filter((name) => name.includes('.moving-'));
}

/**
 * Every repository is on the storage that its row names, and nowhere else. A move failed only for what a crash explains: it
 * was stopped three times, or a write that the crash interrupted was pending for longer than a move waits.
 */
export async function inspectMoves(services: JobServices): Promise<void> {
  const { db, storages, repositories } = services;
  for (const { name, table, folder } of repositories.kinds) {
    const { rows } = await sql<{ id: number; storage: string }>`select id, storage from ${sql.table(table)}`.execute(
      db,
    );
    for (const { id, storage } of rows)
      for (const each of Object.keys(storages)) {
        const place = placeOf(services, { id, storage: each, folder });
        assert.equal(existsSync(place), each === storage, `${name} ${id}, which is on ${storage}: ${place}`);
      }
  }
  const { rows: copies } =
    await sql`select kind, id, storage from unused_repositories where due_at = 'infinity'`.execute(db);
  assert.deepEqual(copies, []);
  for (const folder of Object.values(storages)) assert.deepEqual(await namesBelow(folder), [], folder);
  const { rows: failed } = await sql`
    select distinct error_message from repository_storage_moves
     where state in ('failed', 'cleanup failed')
       and error_message not like 'The server was stopped three times%'
       and error_message not like 'Timeout waiting for % repository pushes'`.execute(db);
  assert.deepEqual(failed, []);
}

/** The storages in a data folder, as the configuration names them. */
export const storagesIn = (data: string): string =>
  ['default=repositories', ...others.map((name) => `${name}=${name}`)]
    .map((named) => named.replace('=', `=${data}/`))
    .join(',');
