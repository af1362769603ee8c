/** Two servers: a group moves from one that is in use to the other, and both are then compared answer by answer. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { accountOn, compared, comparedOfGroup, paths, plantOrchard } from '../support/orchard.ts';
import { dataFolder, freePort, rootToken, type Server, serve } from './coppice.ts';

/** A server under its own address, with which the other one reaches it. */
async function start(): Promise<Server & { data: string }> {
  const [data, port] = [await dataFolder(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  return { ...(await serve({ COPPICE_DATA: data, COPPICE_PORT: String(port), COPPICE_URL: url })), data };
}

/** Members that differ from server to server by their nature. */
const ofPlace = new Set([
  'id',
  'url',
  'links',
  '_links',
  'references',
  'created_by',
  'namespace',
  'prepared_at',
  'permissions',
  'runners_token',
]);
const isOfPlace = (name: string) =>
  ofPlace.has(name) || /(?:_id|_ids|_url|_url_to_repo|web_edit_url|_at_the_place)$/.test(name);
const ofImport = new Set(['imported', 'imported_from', 'last_activity_at', 'public_email']);

/** People by name: whoever has no account is a placeholder of the same name. */
const isPerson = (value: object): value is { username: string; name: string } => 'username' in value && 'name' in value;

function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  if (isPerson(value)) return value.name;
  const kept = Object.entries(value).filter(([name]) => !isOfPlace(name) && !ofImport.has(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, comparable(member)]));
}

const places = [compared[0], comparedOfGroup[0]];
const withoutUpdate = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body, (name, value) => (name === 'updated_at' ? undefined : value)));

/** An answer of the copy with the address of the source, and with the names that people have there; mentions of those who have no account are set in backticks. */
const inNamesOf = (from: Server, to: Server, body: unknown): unknown =>
  JSON.parse(
    JSON.stringify(body).replaceAll(to.url, from.url).replaceAll('ada-here', 'ada').replaceAll('`@bob`', '@bob'),
  );

async function migrate(from: Server, to: Server, entities: object[]): Promise<number> {
  const configuration = { url: from.url, access_token: rootToken };
  const started = await to.root.post('/bulk_imports', { configuration, entities });
  assert.equal(started.status, 201, JSON.stringify(started.body));
  return started.body.id;
}

/** Waits until a migration has ended. */
async function ended(to: Server, id: number): Promise<void> {
  while (['created', 'started'].includes((await to.root.get(`/bulk_imports/${id}`)).body.status)) await sleep(100);
}

test('a group moves to another server while it is in use, and nothing is lost', async () => {
  const [from, to] = [await start(), await start()];
  const site = await plantOrchard(from, 40);
  await to.root.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true });
  await accountOn(to, 'ada-here', 'ada@example.com');
  const apart = await from.root.post('/projects', { name: 'Apart' });
  let isOver = false;
  const inUse = (async () => {
    for (let number = 1; !isOver; number++) {
      const added = await site.root.post(`/projects/${apart.body.id}/issues`, { title: `Meanwhile ${number}` });
      assert.equal(added.status, 201);
    }
  })();
  const entity = {
    source_type: 'group_entity',
    source_full_path: paths.group,
    destination_slug: 'orchard',
    destination_namespace: '',
  };
  const id = await migrate(from, to, [entity]);
  await ended(to, id);
  isOver = true;
  await inUse;
  const entities = (await to.root.get(`/bulk_imports/${id}/entities`)).body as {
    source_full_path: string;
    status: string;
    stats: Record<string, { source: number; fetched: number; imported: number }>;
    failures: { relation: string; exception_class: string }[];
  }[];
  assert.deepEqual(entities.map(({ source_full_path, status }) => [source_full_path, status]).toSorted(), [
    ['orchard', 'finished'],
    ['orchard/apples', 'finished'],
    ['orchard/cellar', 'finished'],
    ['orchard/cellar/cider', 'finished'],
  ]);
  // Of all people only Bob has no account here.
  const failed = entities.flatMap(({ failures }) =>
    failures.map(({ relation, exception_class }) => [relation, exception_class]),
  );
  assert.deepEqual(failed, [['members', 'UserNotFound']]);
  for (const { stats } of entities)
    for (const [relation, { source, fetched, imported }] of Object.entries(stats)) {
      if (relation === 'members' || fetched === 0) continue;
      assert.deepEqual([relation, imported], [relation, source]);
    }
  for (const address of [...compared, ...comparedOfGroup]) {
    const [before, copy] = [await from.root.get(address), await to.root.get(address)];
    assert.equal(copy.status, 200, `${address}: ${JSON.stringify(copy.body)}`);
    // The rows of the project and the group themselves have been written since.
    const bare = (body: unknown) => (places.includes(address) ? withoutUpdate(comparable(body)) : comparable(body));
    assert.deepEqual(bare(inNamesOf(from, to, copy.body)), bare(before.body), address);
  }
  assert.deepEqual((await to.root.get('/todos')).body, []);
  const subjects = async () => {
    const folder = path.join(to.data, 'mail');
    const mails = await Promise.all((await readdir(folder)).map((name) => readFile(path.join(folder, name), 'utf8')));
    return mails.map((mail) => /^Subject: (.*)$/m.exec(mail)?.[1]).filter((subject) => subject?.includes('migration'));
  };
  while ((await subjects()).length === 0) await sleep(100);
  assert.equal((await subjects()).length, 1);
});
