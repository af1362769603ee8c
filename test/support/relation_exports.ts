/** Exports of projects and groups that are written when a test says so, and what is in their files. */
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { extract } from 'tar-stream';
import { continueExports, writeRelationExport } from '../../src/areas/migration/export_relations/index.ts';
import { performQueued } from './jobs.ts';
import { fetchFrom } from './uploads.ts';
import { type Persona, type World, world } from './world.ts';

/** A world on the server of the test file, on which nothing is exported. */
export async function worldWithoutExports(): Promise<World> {
  const here = await world({});
  await here.db.deleteFrom('relation_exports').execute();
  await here.db.deleteFrom('unused_blobs').execute();
  return here;
}

export async function addLabels({ as }: World, place: string, names: readonly string[]): Promise<void> {
  for (const name of names)
    assert.equal((await as('owner').post(`${place}/labels`, { name, color: '#ff0000' })).status, 201);
}

/** Lets the time pass since exports have changed. */
export const ageExports = async ({ db }: World, by: string): Promise<void> => {
  await sql`update relation_exports set updated_at = updated_at - ${by}::interval`.execute(db);
};

/**
 * Writes everything that waits.
 * @returns the names of the jobs that ran
 */
export const writeExports = ({ services }: World): Promise<string[]> =>
  performQueued(services, [writeRelationExport, continueExports]);

/**
 * Exports everything, and writes it.
 * @param place the path of a project or group in the API
 */
export async function exported(here: World, persona: Persona, place: string, { batched = false } = {}): Promise<void> {
  const { status, body } = await here.as(persona).post(`${place}/export_relations`, { batched });
  assert.deepEqual([status, body], [202, { message: '202 Accepted' }]);
  await writeExports(here);
}

/** The project and the group with a label each, exported by the owner. */
export async function exportLabels(here: World): Promise<void> {
  for (const place of [`/projects/${here.project.id}`, `/groups/${here.group.id}`]) {
    await addLabels(here, place, ['ripe']);
    await exported(here, 'owner', place);
  }
}

/** The state of the export of one relation. */
export async function statusOf({ as }: World, persona: Persona, place: string, relation: string) {
  const { status, body } = await as(persona).get(`${place}/export_relations/status`, { relation });
  assert.equal(status, 200, JSON.stringify(body));
  return body[0];
}

/** Downloads a file as it is. */
export const download = (
  here: World,
  persona: Persona,
  place: string,
  query: { relation: string; batched?: string; batch_number?: string },
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetchFrom(here, `/api/v4${place}/export_relations/download?${new URLSearchParams(query)}`, persona, headers);

/** What is in a downloaded file, without the compression. */
export async function contentOf(answer: Response): Promise<Buffer> {
  assert.equal(answer.status, 200);
  return gunzipSync(Buffer.from(await answer.arrayBuffer()));
}

/** The records of a relation. */
export const recordsIn = async (answer: Response) =>
  (await contentOf(answer))
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

/** The files of an archive by name. */
export async function filesIn(answer: Response): Promise<Map<string, Buffer>> {
  const tar = extract();
  tar.end(await contentOf(answer));
  const files = new Map<string, Buffer>();
  for await (const entry of tar) {
    const { name, mode, uid, gid, mtime, type } = entry.header;
    assert.deepEqual([mode, uid, gid, Number(mtime), type], [0o644, 0, 0, 0, 'file'], name);
    files.set(name, await buffer(entry as unknown as AsyncIterable<Buffer>));
  }
  return files;
}
