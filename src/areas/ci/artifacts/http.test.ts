import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipped, held, report, sendFile, zipped } from '../../../../test/support/artifacts.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { sent } from '../../../../test/support/sent.ts';

const configuration = `
build: {script: make, artifacts: {paths: [out], access: developer}}
test: {stage: deploy, script: make test}
`;

/** A pipeline whose jobs runners hold. */
async function holding() {
  const here = await built(configuration);
  const { id } = (await sent(here.as('maintainer').post(`${here.at}/pipeline`, { ref: 'main' }))) as { id: number };
  const jobs = (await here.jobsOf(id)) as Record<string, { id: number }>;
  const job = async (name: string) => ({ id: jobs[name]!.id, token: await held(here.db, jobs[name]!.id) });
  const rowsOf = (job_id: number) =>
    here.db
      .selectFrom('job_artifacts')
      .select(['file_type', 'file_format', 'filename', 'size_bytes', 'accessibility', 'expire_at'])
      .where('job_id', '=', job_id)
      .orderBy('id')
      .execute();
  const unusedKeys = async () => {
    const query = here.db.selectFrom('unused_blobs').select('key').where('key', 'like', 'job_artifacts/%');
    return (await query.execute()).map(({ key }) => key);
  };
  // Other tests may have left some.
  const before = new Set(await unusedKeys());
  const blobs = async () => (await unusedKeys()).filter((key) => !before.has(key)).length;
  return { ...here, pipeline_id: id, build: await job('build'), test: await job('test'), rowsOf, blobs };
}

test('a runner sends the archive and reports of a job, with parameters before, after or beside the file', async () => {
  const here = await holding();
  const { build, rowsOf } = here;
  const zip = zipped({ 'out/a.txt': 'apple' });
  const query = { artifact_type: 'archive', artifact_format: 'zip', expire_in: '2 days' };
  assert.deepEqual(await sendFile(here, build, zip, { query }), { status: 201, body: { message: '201 Created' } });
  const later = { artifact_type: 'codequality', artifact_format: 'raw', expire_in: 'never' };
  assert.equal((await sendFile(here, build, '[]', { after: later, name: 'quality.json' })).status, 201);
  const before = { artifact_type: 'sast', artifact_format: 'raw' };
  assert.equal((await sendFile(here, build, '{}', { before, name: 'a/sast.json' })).status, 201);
  const rows = await rowsOf(build.id);
  assert.deepEqual(
    rows.map(({ expire_at, ...row }) => row),
    [
      {
        file_type: 'archive',
        file_format: 'zip',
        filename: 'artifacts.zip',
        size_bytes: zip.length,
        accessibility: 'developer',
      },
      {
        file_type: 'codequality',
        file_format: 'raw',
        filename: 'quality.json',
        size_bytes: 2,
        accessibility: 'developer',
      },
      { file_type: 'sast', file_format: 'raw', filename: 'sast.json', size_bytes: 2, accessibility: 'developer' },
    ],
  );
  const days = rows.map(({ expire_at }) => expire_at && Math.round((Date.parse(expire_at) - Date.now()) / 86_400_000));
  assert.deepEqual(days, [2, null, 30]);
});

test('another file of a type is refused, and the same bytes again are accepted', async () => {
  const here = await holding();
  const zip = zipped({ a: 'one' });
  for (const bytes of [zip, zip]) assert.equal((await sendFile(here, here.build, bytes)).status, 201);
  const other = await sendFile(here, here.build, zipped({ a: 'two' }));
  assert.deepEqual(other, { status: 409, body: { message: '409 Conflict' } });
  assert.equal((await here.rowsOf(here.build.id)).length, 1);
  assert.equal(await here.blobs(), 0);
});

test('what is not whole or wrong is refused, and leaves nothing', async () => {
  const here = await holding();
  const { build } = here;
  const zip = zipped({ a: 'one' });
  const bad: [Parameters<typeof sendFile>[2], Parameters<typeof sendFile>[3], unknown][] = [
    [zip.slice(0, -1), {}, '400 Bad request - The archive cannot be read'],
    [zip, { query: { artifact_type: 'moon' } }, 'artifact_type does not have a valid value'],
    [
      zip,
      { query: { artifact_type: 'archive', artifact_format: 'gzip' } },
      'artifact_format does not have a valid value',
    ],
    [zip, { after: { expire_in: 'soon' } }, 'expire_in is invalid'],
    [gzipped('no assignment'), report('dotenv'), 'Invalid Format'],
    [gzipped('A=1\n'.repeat(2000)), report('dotenv'), 'Dotenv Artifact Too Big. Maximum Allowable Size: 5120'],
    [
      gzipped(Array.from({ length: 21 }, (_, n) => `K${n}=1`).join('\n')),
      report('dotenv'),
      'Dotenv files cannot have more than 20 variables',
    ],
    ['A=1', report('dotenv'), 'Invalid Format'],
  ];
  for (const [content, sending, message] of bad) {
    const answer = await sendFile(here, build, content, sending);
    assert.deepEqual([answer.status, answer.body.message], [400, message]);
  }
  const none = await fetch(`${here.url}/api/v4/jobs/${build.id}/artifacts`, {
    method: 'POST',
    body: new FormData(),
    headers: { 'job-token': build.token },
  });
  assert.deepEqual([none.status, ((await none.json()) as { message: string }).message], [400, 'file is missing']);
  assert.deepEqual(await here.rowsOf(build.id), []);
  assert.equal(await here.blobs(), 0);
});

test('a file above the limit of the project, its group or the server is refused', async () => {
  const here = await holding();
  const { build, as, at } = here;
  const group = `/groups/${here.group.id}`;
  const large = zipped({ a: { content: Buffer.alloc(1.5 * 2 ** 20), method: 0 } });
  const statusOf = async () => (await sendFile(here, build, large)).status;
  const allowed = async () => {
    const answer = await fetch(`${here.url}/api/v4/jobs/${build.id}/artifacts/authorize`, {
      method: 'POST',
      headers: { 'job-token': build.token },
    });
    return (await answer.json()) as unknown;
  };
  assert.deepEqual(await allowed(), { MaximumSize: 100 * 2 ** 20 });
  await sent(as('admin').put(at, { max_artifacts_size: 1 }));
  assert.deepEqual([await statusOf(), await allowed()], [413, { MaximumSize: 2 ** 20 }]);
  await sent(as('admin').put(at, { max_artifacts_size: null }));
  await sent(as('admin').put(group, { max_artifacts_size: 1 }));
  assert.equal(await statusOf(), 413);
  // Only administrators change limits of the server.
  await sent(as('owner').put(group, { max_artifacts_size: 2 }));
  await sent(as('owner').put(at, { max_artifacts_size: 2 }));
  assert.equal(await statusOf(), 413);
  assert.equal(await here.blobs(), 0);
  await sent(as('admin').put(at, { max_artifacts_size: 2 }));
  assert.equal(await statusOf(), 201);
});

test('tokens of other jobs, of ended ones and of nobody are refused', async () => {
  const here = await holding();
  const { build, test: other, db } = here;
  const zip = zipped({ a: 'one' });
  const refused = async (job: typeof build) => (await sendFile(here, job, zip)).body.message;
  assert.equal(await refused({ ...build, token: other.token }), '403 Forbidden');
  assert.equal(await refused({ ...build, token: 'glcbt-unknown' }), '403 Forbidden - Job is not running');
  await db.updateTable('commit_statuses').set({ status: 'success' }).where('id', '=', build.id).execute();
  assert.equal(await refused(build), '403 Forbidden - Job is not running');
  const bare = await fetch(`${here.url}/api/v4/jobs/${build.id}/artifacts`, { method: 'POST', body: new FormData() });
  assert.equal(bare.status, 403);
  assert.deepEqual(await here.rowsOf(build.id), []);
});

test('a later job of the pipeline fetches the archive, another pipeline does not', async () => {
  const here = await holding();
  const zip = zipped({ a: 'one' });
  await sendFile(here, here.build, zip);
  const fetched = (id: number, token: string) =>
    fetch(`${here.url}/api/v4/jobs/${id}/artifacts`, { headers: { 'job-token': token } });
  const answer = await fetched(here.build.id, here.test.token);
  assert.deepEqual([answer.status, Buffer.from(await answer.arrayBuffer()).equals(zip)], [200, true]);
  assert.equal((await fetched(here.test.id, here.test.token)).status, 404);
  const elsewhere = await holding();
  assert.equal((await fetched(here.build.id, elsewhere.build.token)).status, 403);
});

test('variables that a job leaves are encrypted', async () => {
  const here = await holding();
  const text = `VERSION=1.2.3\n\nNAME="Ada Lovelace"\r\nVERSION='2.0'\nURL=https://a.example/?b=c`;
  assert.equal((await sendFile(here, here.build, gzipped(text), report('dotenv'))).status, 201);
  const rows = await here.db
    .selectFrom('job_dotenv_variables')
    .select(['key', 'value'])
    .where('job_id', '=', here.build.id)
    .orderBy('id')
    .execute();
  assert.deepEqual(
    rows.map(({ key, value }) => [key, here.services.secrets.unseal('dotenv variable', value)]),
    [
      ['VERSION', '2.0'],
      ['NAME', 'Ada Lovelace'],
      ['URL', 'https://a.example/?b=c'],
    ],
  );
  assert.ok(rows.every(({ value }) => !value.includes('2.0')));
});

test('a runner learns in which state its job is, and the files of jobs count in the statistics', async () => {
  const { as, at, build, url, db } = await holding();
  const sent = zipped({ 'a.txt': 'a' });
  assert.equal((await sendFile({ url }, build, sent)).status, 201);
  const { statistics } = (await as('owner').get(at, { statistics: true })).body;
  assert.equal(statistics.job_artifacts_size, sent.length);
  assert.ok(statistics.storage_size >= sent.length);
  await db.updateTable('commit_statuses').set({ status: 'canceled' }).where('id', '=', build.id).execute();
  const refused = await fetch(`${url}/api/v4/jobs/${build.id}/artifacts/authorize`, {
    method: 'POST',
    headers: { 'job-token': build.token },
  });
  assert.deepEqual([refused.status, refused.headers.get('job-status')], [403, 'canceled']);
});
