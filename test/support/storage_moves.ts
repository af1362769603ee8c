/** Two storages, and moves between these that begin and go on when a test says so. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { continueMoves, moveRepositories, scheduleMoves } from '../../src/areas/spaces/storage_moves/index.ts';
import { atFileEnd } from './file_end.ts';
import { performJob, performQueued } from './jobs.ts';
import type { World, WorldOptions } from './world.ts';

export const moveJobs = [moveRepositories, scheduleMoves, continueMoves];

/** The options of a server with the storages `default` and `second`, and the folder in which these are. */
export async function twoStorages(): Promise<WorldOptions & { folder: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-storages-'));
  await Promise.all(['default', 'second'].map((name) => mkdir(path.join(folder, name))));
  atFileEnd(() => rm(folder, { recursive: true, force: true }));
  return { folder, environment: { COPPICE_STORAGES: `default=${folder}/default,second=${folder}/second` } };
}

/** Lets the time pass that a source stays for those who have read its place before, and in which the repository does not return to it. */
export const passGrace = async ({ db }: World): Promise<void> => {
  await sql`
    update repository_storage_moves set replicated_at = replicated_at - interval '1 minute' where replicated_at is not null`.execute(
    db,
  );
};

/** Also lets the time pass for which somebody has said that they read it. */
export const pass = async (here: World): Promise<void> => {
  await passGrace(here);
  await sql`update repository_storage_moves set used_until = now() where state = 'replicated'`.execute(here.db);
};

/** A write that has begun, to a repository on the storage `default`: moves of it wait until it is deleted. */
export const beginWrite = (
  { db }: World,
  owner: { project_id: number } | { snippet_id: number } | { wiki_id: number },
) =>
  db
    .insertInto('reference_updates')
    .values({ ...owner, updates: '[]', storage: 'default' })
    .returning('id')
    .executeTakeFirstOrThrow();

/**
 * Schedules a move to `second`, and runs it.
 * @param url of what moves, e.g. `/projects/1`
 * @returns the move as the API shows it
 */
export async function moved(here: World, url: string) {
  const { status, body } = await here
    .as('admin')
    .post(`${url}/repository_storage_moves`, { destination_storage_name: 'second' });
  assert.equal(status, 201, JSON.stringify(body));
  await performQueued(here.services, moveJobs);
  return (await here.as('admin').get(`${url}/repository_storage_moves/${body.id}`)).body;
}

/**
 * Does something while a move to `second` runs, which waits for a write.
 * @param owner of a repository that moves
 * @returns the move as the API shows it afterwards
 */
export async function whileMoving(
  here: World,
  url: string,
  owner: Parameters<typeof beginWrite>[1],
  work: () => Promise<void>,
) {
  const { db, services } = here;
  const writing = await beginWrite(here, owner);
  const { status, body } = await here
    .as('admin')
    .post(`${url}/repository_storage_moves`, { destination_storage_name: 'second' });
  assert.equal(status, 201, JSON.stringify(body));
  const run = performJob(services, moveRepositories, { move_id: body.id });
  const started = db
    .selectFrom('repository_storage_moves')
    .select('id')
    .where('id', '=', body.id)
    .where('state', '=', 'started');
  while (!(await started.executeTakeFirst()));
  try {
    await work();
  } finally {
    await db.deleteFrom('reference_updates').where('id', '=', writing.id).execute();
    await run;
  }
  return (await here.as('admin').get(`${url}/repository_storage_moves/${body.id}`)).body;
}
