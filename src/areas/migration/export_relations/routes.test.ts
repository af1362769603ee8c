import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob } from '../../../../test/support/jobs.ts';
import {
  addLabels,
  ageExports,
  download,
  exported,
  recordsIn,
  statusOf,
  worldWithoutExports,
  writeExports,
} from '../../../../test/support/relation_exports.ts';
import type { World } from '../../../../test/support/world.ts';
import { removeExpiredExports } from './index.ts';

const labels = { relation: 'labels' };

const places = ({ project, group }: World) => [
  { kind: 'project', place: `/projects/${project.id}`, who: 'maintainer', below: 'developer' } as const,
  { kind: 'group', place: `/groups/${group.id}`, who: 'owner', below: 'maintainer' } as const,
];

test('everything that belongs to a project or group is exported, relation by relation, and downloaded', async () => {
  const here = await worldWithoutExports();
  const { as } = here;
  for (const { kind, place, who } of places(here)) {
    await addLabels(here, place, ['ripe', 'sour']);
    const url = `${place}/export_relations`;
    assert.deepEqual((await as(who).get(`${url}/status`)).body, []);
    assert.deepEqual((await as(who).post(url)).body, { message: '202 Accepted' });
    const started = (await as(who).get(`${url}/status`)).body;
    const names = started.map(({ relation }: { relation: string }) => relation);
    assert.ok(names.includes('labels') && names.includes('uploads'));
    assert.equal(names.includes('repository'), kind === 'project');
    for (const { updated_at, relation, ...rest } of started) {
      assert.ok(Date.parse(updated_at));
      assert.deepEqual(
        rest,
        { status: 0, error: null, batched: false, batches_count: 0, total_objects_count: 0 },
        relation,
      );
    }
    const early = await as(who).get(`${url}/download`, labels);
    assert.deepEqual([early.status, early.body], [404, { message: 'Export file not found' }]);

    const ran = await writeExports(here);
    assert.ok(ran.length > 0);
    for (const { status, error, relation } of (await as(who).get(url)).body)
      assert.deepEqual([status, error], [1, null], relation);
    const { updated_at, ...status } = await statusOf(here, who, place, 'labels');
    assert.ok(Date.parse(updated_at));
    const whole = { relation: 'labels', status: 1, error: null, batched: false, batches_count: 0 };
    assert.deepEqual(status, { ...whole, total_objects_count: 2 });
    const records = await recordsIn(await download(here, who, place, labels));
    assert.deepEqual(
      records.map(({ title }) => title),
      ['ripe', 'sour'],
    );
  }
});

test('a download has a type and a name, can be resumed, and is the same each time', async () => {
  const here = await worldWithoutExports();
  const place = `/projects/${here.project.id}`;
  await addLabels(here, place, ['ripe']);
  await exported(here, 'maintainer', place);
  const answer = await download(here, 'maintainer', place, labels);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`;
  const expected: Record<string, string | null> = {
    'content-type': 'application/gzip',
    'content-length': String(bytes.length),
    'content-disposition': 'attachment; filename="labels.ndjson.gz"',
    etag,
    'accept-ranges': 'bytes',
    'content-encoding': null,
  };
  const headersOf = ({ headers }: { headers: Headers }) =>
    Object.fromEntries(Object.keys(expected).map((name) => [name, headers.get(name)]));
  assert.deepEqual(headersOf(answer), expected);
  assert.deepEqual([...bytes.subarray(0, 8)], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0], 'neither a name nor a time');
  const head = await here.as('maintainer').head(`${place}/export_relations/download`, labels);
  assert.deepEqual([head.status, headersOf(head)], [200, expected]);

  const part = await download(here, 'maintainer', place, labels, { range: 'bytes=4-9', 'if-range': etag });
  assert.deepEqual([part.status, part.headers.get('content-range')], [206, `bytes 4-9/${bytes.length}`]);
  assert.deepEqual(Buffer.from(await part.arrayBuffer()), bytes.subarray(4, 10));
  const beyond = await download(here, 'maintainer', place, labels, { range: `bytes=${bytes.length}-` });
  assert.deepEqual([beyond.status, await beyond.json()], [416, { message: '416 Range Not Satisfiable' }]);
  const known = await download(here, 'maintainer', place, labels, { 'if-none-match': etag });
  assert.equal(known.status, 304);

  await ageExports(here, '4 minutes');
  await exported(here, 'maintainer', place);
  assert.equal((await download(here, 'maintainer', place, labels)).headers.get('etag'), etag);
});

test('callers who may not export are refused at every endpoint, and nothing is exported', async () => {
  const here = await worldWithoutExports();
  const { as, db } = here;
  for (const { kind, place, below } of places(here)) {
    const [Kind, url] = [kind === 'project' ? 'Project' : 'Group', `${place}/export_relations`];
    for (const [persona, status, message] of [
      [below, 403, '403 Forbidden'],
      ['outsider', 404, `404 ${Kind} Not Found`],
      ['anonymous', 401, '401 Unauthorized'],
    ] as const) {
      const client = as(persona);
      for (const answer of [
        await client.post(url),
        await client.get(url),
        await client.get(`${url}/status`),
        await client.get(`${url}/download`, labels),
      ])
        assert.deepEqual([answer.status, answer.body.message], [status, message], persona);
    }
  }
  assert.deepEqual(await db.selectFrom('relation_exports').selectAll().execute(), []);
});

test('an export belongs to the user who started it', async () => {
  const here = await worldWithoutExports();
  const { as } = here;
  const place = `/projects/${here.project.id}`;
  await exported(here, 'maintainer', place);
  assert.deepEqual((await as('admin').get(`${place}/export_relations/status`)).body, []);
  const answer = await as('admin').get(`${place}/export_relations/download`, labels);
  assert.deepEqual([answer.status, answer.body], [404, { message: 'Export not found' }]);
  await exported(here, 'admin', place);
  assert.equal((await as('admin').get(`${place}/export_relations/download`, { relation: 'uploads' })).status, 200);
});

test('parameters that make no sense are refused', async () => {
  const here = await worldWithoutExports();
  const { as } = here;
  const url = `/projects/${here.project.id}/export_relations`;
  const refused = async (
    answer: Promise<{ status: number; body: { message: string } }>,
    status: number,
    message: string,
  ) => {
    const { status: given, body } = await answer;
    assert.deepEqual([given, body.message], [status, message]);
  };
  const get = (query: Record<string, string>) => as('maintainer').get(`${url}/download`, query);
  await refused(as('maintainer').post(url, { batched: 'perhaps' }), 400, 'batched is invalid');
  await refused(get({}), 400, 'relation is missing');
  await refused(get({ relation: 'secrets' }), 400, 'relation does not have a valid value');
  const both = 'batched, batch_number provide all or none of parameters';
  await refused(get({ ...labels, batched: 'true' }), 400, both);
  await refused(get({ ...labels, batch_number: '1' }), 400, both);
  await refused(
    get({ ...labels, batched: 'true', batch_number: '0' }),
    400,
    'batch_number does not have a valid value',
  );
  await refused(get(labels), 404, 'Export not found');
  await refused(as('maintainer').get(`${url}/status`, labels), 404, 'Export not found');
  await exported(here, 'maintainer', `/projects/${here.project.id}`);
  await refused(get({ ...labels, batched: 'true', batch_number: '1' }), 400, 'Export is not batched');
  await refused(as('maintainer').get(`${url}/status`, { relation: 'secrets' }), 404, 'Export not found');
});

test('an administrator turns exports off, and limits how many a user starts', async () => {
  const here = await worldWithoutExports();
  const { as, db } = here;
  const place = `/projects/${here.project.id}`;
  const set = (settings: object) => as('admin').put('/application/settings', { ...settings });
  await exported(here, 'maintainer', place);
  await set({ bulk_import_enabled: false });
  for (const persona of ['maintainer', 'admin', 'anonymous'] as const)
    for (const answer of [
      await as(persona).post(`${place}/export_relations`),
      await as(persona).get(`${place}/export_relations/status`),
      await as(persona).get(`${place}/export_relations/download`, labels),
    ])
      assert.deepEqual([answer.status, answer.body], [404, { message: '404 Not Found' }]);
  await set({ bulk_import_enabled: true, relation_export_requests_limit: 2 });
  const statuses = [1, 2, 3].map(async () => (await as('maintainer').post(`${place}/export_relations`)).status);
  assert.deepEqual((await Promise.all(statuses)).toSorted(), [202, 202, 429]);
  await set({ relation_export_requests_limit: 0 });
  await db.deleteFrom('request_counts').execute();
});

test('a running export is joined, one that has just ended is reused, and any other is written again', async () => {
  const here = await worldWithoutExports();
  const { as, db } = here;
  const place = `/projects/${here.project.id}`;
  const start = (batched = false) => as('maintainer').post(`${place}/export_relations`, { batched });
  await Promise.all([start(), start(), start(), start()]);
  const { length } = (await as('maintainer').get(`${place}/export_relations/status`)).body;
  assert.equal(
    Number((await db.selectFrom('relation_exports').select(sql`count(*)`.as('count')).executeTakeFirst())?.count),
    length,
  );
  await writeExports(here);
  const files = () => db.selectFrom('relation_export_files').select('blob_key').orderBy('id').execute();
  const first = await files();
  assert.ok(first.every(({ blob_key }) => blob_key !== null));

  await start();
  assert.deepEqual(await writeExports(here), []);
  await ageExports(here, '4 minutes');
  await addLabels(here, place, ['late']);
  await start();
  assert.equal((await statusOf(here, 'maintainer', place, 'labels')).status, 0);
  assert.deepEqual(
    await recordsIn(await download(here, 'maintainer', place, labels)),
    [],
    'the old file stays meanwhile',
  );
  await writeExports(here);
  assert.equal((await recordsIn(await download(here, 'maintainer', place, labels))).length, 1);
  const second = await files();
  const unused = await db.selectFrom('unused_blobs').select('key').orderBy('key').execute();
  assert.deepEqual(
    unused.map(({ key }) => key),
    first.map(({ blob_key }) => blob_key!).toSorted(),
  );

  await start(true);
  assert.equal((await statusOf(here, 'maintainer', place, 'labels')).status, 0, 'batches are never used again');
  await writeExports(here);
  await start(true);
  assert.equal((await statusOf(here, 'maintainer', place, 'labels')).status, 0);
  await writeExports(here);
  assert.ok((await files()).every(({ blob_key }) => second.every((other) => other.blob_key !== blob_key)));
});

test('large relations are split into batches, each with a state and a file of its own', async () => {
  const here = await worldWithoutExports();
  const { as, db } = here;
  const place = `/projects/${here.project.id}`;
  const batch = (number: number) => ({ ...labels, batched: 'true', batch_number: String(number) });
  await as('admin').put('/application/settings', { relation_export_batch_size: 2 });
  await addLabels(here, place, ['a', 'b', 'c', 'd', 'e']);
  await exported(here, 'maintainer', place, { batched: true });
  const { batches, updated_at, ...status } = await statusOf(here, 'maintainer', place, 'labels');
  assert.ok(Date.parse(updated_at));
  const ended = { relation: 'labels', status: 1, error: null, batched: true };
  assert.deepEqual(status, { ...ended, batches_count: 3, total_objects_count: 5 });
  assert.deepEqual(
    batches.map(({ updated_at, ...rest }: { updated_at: string }) => ({ ...rest, isTime: Date.parse(updated_at) > 0 })),
    [2, 2, 1].map((objects_count, index) => ({
      batch_number: index + 1,
      status: 1,
      objects_count,
      error: null,
      isTime: true,
    })),
  );
  const titles = async (number: number) =>
    (await recordsIn(await download(here, 'maintainer', place, batch(number)))).map(({ title }) => title);
  assert.deepEqual([await titles(1), await titles(2), await titles(3)], [['a', 'b'], ['c', 'd'], ['e']]);
  const refusal = async (query: Record<string, string>) => {
    const { status, body } = await as('maintainer').get(`${place}/export_relations/download`, query);
    return [status, body.message];
  };
  assert.deepEqual(await refusal(batch(4)), [404, 'Batch not found']);
  assert.deepEqual(await refusal(labels), [400, 'Export is batched']);
  // Nothing to export, and what is never split.
  const empty = await statusOf(here, 'maintainer', place, 'lfs_objects');
  assert.deepEqual([empty.status, empty.batches_count, empty.batches], [1, 0, []]);
  assert.deepEqual(await refusal({ ...batch(1), relation: 'lfs_objects' }), [404, 'Batch not found']);
  const repository = await statusOf(here, 'maintainer', place, 'repository');
  assert.deepEqual([repository.batched, 'batches' in repository], [false, false]);
  assert.equal(
    (await as('maintainer').get(`${place}/export_relations/download`, { relation: 'repository' })).status,
    200,
  );

  // Labels of the next export are in its batches only.
  await as('maintainer').post(`${place}/export_relations`, { batched: true });
  await addLabels(here, place, ['f', 'g']);
  await writeExports(here);
  const more = await statusOf(here, 'maintainer', place, 'labels');
  assert.deepEqual([more.batches_count, more.total_objects_count], [4, 7]);
  await db.deleteFrom('labels').where('title', '<>', 'a').execute();
  await ageExports(here, '4 minutes');
  await exported(here, 'maintainer', place);
  assert.equal((await statusOf(here, 'maintainer', place, 'labels')).batched, false);
  const left = await db.selectFrom('relation_export_files').select('id').where('batch_number', '>', 0).execute();
  assert.deepEqual(left, []);
  await as('admin').put('/application/settings', { relation_export_batch_size: 1000 });
});

test('exports are deleted 24 hours after they have ended, and with their project, group or user', async () => {
  const here = await worldWithoutExports();
  const { as, db, services, project } = here;
  const place = `/projects/${project.id}`;
  const url = `${place}/export_relations`;
  await exported(here, 'maintainer', place);
  const keys = await db.selectFrom('relation_export_files').select('blob_key').execute();
  await ageExports(here, '23 hours 59 minutes');
  await performJob(services, removeExpiredExports);
  assert.equal((await download(here, 'maintainer', place, labels)).status, 200);
  await ageExports(here, '1 minute');
  assert.deepEqual((await as('maintainer').get(`${url}/status`)).body, []);
  assert.deepEqual((await as('maintainer').get(`${url}/download`, labels)).body, { message: 'Export not found' });
  await performJob(services, removeExpiredExports);
  assert.deepEqual(await db.selectFrom('relation_exports').selectAll().execute(), []);
  const unused = await db.selectFrom('unused_blobs').select('key').execute();
  for (const { blob_key } of keys) assert.ok(unused.some(({ key }) => key === blob_key));

  await as('maintainer').post(url);
  await ageExports(here, '48 hours');
  await performJob(services, removeExpiredExports);
  assert.notDeepEqual((await as('maintainer').get(`${url}/status`)).body, [], 'one that has not ended');
  await db.deleteFrom('projects').where('id', '=', project.id).execute();
  assert.deepEqual(await db.selectFrom('relation_exports').selectAll().execute(), []);
  assert.deepEqual(await writeExports(here), ['write_relation_export', 'write_relation_export']);
});
