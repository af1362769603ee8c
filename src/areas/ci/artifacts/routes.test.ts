import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipped, held, report, sendFile, zipped } from '../../../../test/support/artifacts.ts';
import { performQueued } from '../../../../test/support/jobs.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { sent } from '../../../../test/support/sent.ts';
import { fetchFrom } from '../../../../test/support/uploads.ts';
import type { BlobKey } from '../../../blobs/index.ts';
import { removeDueArtifacts } from './actions.ts';
import { removeProjectArtifacts } from './index.ts';

const configuration = `
build: {script: make, artifacts: {paths: [out]}}
inner: {script: make, artifacts: {paths: [out], access: developer}}
hidden: {script: make, artifacts: {paths: [out], access: none}}
`;

const files = {
  'out/': { content: '', mode: 0o040755 },
  'out/a.txt': 'apple',
  'out/deep/page.html': '<script>alert(1)</script>',
  'run.sh': { content: 'make', mode: 0o100755 },
  link: { content: '/etc/passwd', mode: 0o120777 },
  '../leaves.txt': 'outside',
};

/** A project whose pipelines leave files. */
async function leaving() {
  const here = await built(configuration);
  const { at, as, db } = here;
  const pipeline = async (ref = 'main') =>
    ((await sent(as('maintainer').post(`${at}/pipeline`, { ref }))) as { id: number }).id;
  /** Sends the file of each job, and ends the pipeline. */
  const left = async (id: number, { status = 'success', expire_in = '1 hour', of = ['build'] } = {}) => {
    const jobs = (await here.jobsOf(id)) as Record<string, { id: number }>;
    for (const name of of) {
      const job = { id: jobs[name]!.id, token: await held(db, jobs[name]!.id) };
      assert.equal((await sendFile(here, job, zipped(files), { query: { expire_in } })).status, 201);
    }
    await db.updateTable('commit_statuses').set({ status }).where('pipeline_id', '=', id).execute();
    await db
      .updateTable('pipelines')
      .set({ status, finished_at: new Date().toISOString() })
      .where('id', '=', id)
      .execute();
    return Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, job.id])) as Record<string, number>;
  };
  const run = async (given: Parameters<typeof left>[1] & { ref?: string } = {}) =>
    left(await pipeline(given.ref), given);
  const file = (path: string, persona?: Parameters<typeof as>[0]) =>
    fetchFrom(here, `/api/v4${at}/jobs/${path}`, persona as 'developer');
  const artifactsOf = async (id: number | undefined) => {
    const rows = await db.selectFrom('job_artifacts').select('blob_key').where('job_id', '=', id!).execute();
    return rows.map(({ blob_key }) => blob_key);
  };
  /** Lets the end of all files come. */
  const expire = async () => {
    const past = new Date(Date.now() - 1000).toISOString();
    await db
      .updateTable('job_artifacts')
      .set({ expire_at: past, look_at: past })
      .where('project_id', '=', here.project.id)
      .where('expire_at', 'is not', null)
      .execute();
    while (await removeDueArtifacts(here.services));
  };
  return { ...here, pipeline, run, file, artifactsOf, expire };
}

test('the archive of a job, a folder and a single file of it can be read', async () => {
  const here = await leaving();
  const { as, at, file } = here;
  const { build } = await here.run();
  const whole = await file(`${build}/artifacts`, 'developer');
  assert.deepEqual(
    [whole.status, whole.headers.get('content-type'), whole.headers.get('content-disposition')],
    [200, 'application/zip', `attachment; filename="artifacts.zip"; filename*=UTF-8''artifacts.zip`],
  );
  assert.ok(Buffer.from(await whole.arrayBuffer()).equals(zipped(files)));

  const tree = async (query = {}) => {
    const { body } = await as('developer').get(`${at}/jobs/${build}/artifacts/tree`, query);
    return (body as { path: string; type: string; size: number | null; mode: string }[]).map(
      ({ path, type, size, mode }) => [path, type, size, mode],
    );
  };
  assert.deepEqual(await tree(), [
    ['out', 'directory', null, '040755'],
    ['link', 'link', 11, '120777'],
    ['run.sh', 'file', 4, '100755'],
  ]);
  assert.deepEqual(await tree({ path: 'out/' }), [
    ['out/deep', 'directory', null, '040755'],
    ['out/a.txt', 'file', 5, '100644'],
  ]);
  assert.deepEqual(
    (await tree({ recursive: true, per_page: 3 })).map(([path]) => path),
    ['link', 'out', 'out/a.txt'],
  );

  const page = await file(`${build}/artifacts/out/deep/page.html`, 'developer');
  assert.deepEqual(
    [await page.text(), page.headers.get('content-disposition'), page.headers.get('x-content-type-options')],
    ['<script>alert(1)</script>', `attachment; filename="page.html"; filename*=UTF-8''page.html`, 'nosniff'],
  );
});

test('paths that leave the archive, links and what is not there are refused', async () => {
  const here = await leaving();
  const { build, inner } = await here.run();
  const statusOf = async (path: string) => (await here.file(path, 'developer')).status;
  for (const name of [
    '..%2fleaves.txt',
    '%2e%2e/%2e%2e/leaves.txt',
    'out/..%2frun.sh',
    '%2fetc%2fpasswd',
    'link',
    'out%00',
    'out%2f%2fa.txt',
  ])
    assert.equal(await statusOf(`${build}/artifacts/${name}`), 400, name);
  for (const name of ['out', 'out/b.txt', 'leaves.txt'])
    assert.equal(await statusOf(`${build}/artifacts/${name}`), 404, name);
  assert.equal(await statusOf(`${build}/artifacts/tree?path=moon`), 404);
  assert.equal(await statusOf(`${build}/artifacts/tree?path=../`), 400);
  for (const path of [`${inner}/artifacts`, `${inner}/artifacts/run.sh`, '0/artifacts'])
    assert.equal(await statusOf(path), 404, path);
});

test('a job says which files it has left', async () => {
  const here = await leaving();
  const { as, at } = here;
  const { build, inner } = await here.run({ expire_in: '1 day' });
  const shown = (await as('developer').get(`${at}/jobs/${build}`)).body;
  const size = zipped(files).length;
  assert.deepEqual(
    [shown.artifacts, shown.artifacts_file],
    [
      [{ file_type: 'archive', size, filename: 'artifacts.zip', file_format: 'zip' }],
      { filename: 'artifacts.zip', size },
    ],
  );
  assert.ok(Date.parse(shown.artifacts_expire_at as string) > Date.now() + 82_000_000);
  const none = (await as('developer').get(`${at}/jobs/${inner}`)).body;
  assert.deepEqual([none.artifacts, none.artifacts_file, none.artifacts_expire_at], [[], undefined, null]);
});

test('the latest pipeline of a branch that succeeded is found by the name of a job', async () => {
  const here = await leaving();
  const { file } = here;
  const first = await here.run({ of: ['build', 'inner'] });
  await here.run({ of: ['build'] });
  await here.run({ of: ['build'], status: 'failed' });
  const statusOf = async (path: string) => (await file(`artifacts/${path}`, 'developer')).status;
  assert.equal(await statusOf('main/download?job=build'), 200);
  assert.equal(await statusOf('main/raw/out/a.txt?job=build'), 200);
  assert.equal(await statusOf('main/download?job=inner'), 404);
  assert.equal(await statusOf('main/download?job=inner&search_recent_successful_pipelines=true'), 200);
  assert.equal(await statusOf('moon/download?job=build'), 404);
  assert.equal(await statusOf('main/download'), 400);
  assert.equal(await statusOf('main/raw/..%2fa?job=build'), 400);
  await sent(here.as('maintainer').delete(`${here.at}/jobs/${first.inner}/artifacts`));
  assert.equal(await statusOf('main/download?job=inner&search_recent_successful_pipelines=true'), 404);
});

test('who may read a job may read its files, unless it says otherwise', async () => {
  const here = await leaving();
  await here.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', here.project.id).execute();
  const { build, inner, hidden } = await here.run({ of: ['build', 'inner', 'hidden'] });
  const statusOf = async (id: number | undefined, persona?: 'guest' | 'developer' | 'owner') =>
    (await here.file(`${id}/artifacts/run.sh`, persona)).status;
  assert.deepEqual([await statusOf(build), await statusOf(build, 'guest')], [200, 200]);
  assert.deepEqual([await statusOf(inner), await statusOf(inner, 'guest')], [403, 403]);
  assert.deepEqual([await statusOf(inner, 'developer'), await statusOf(hidden, 'owner')], [200, 403]);
  await sent(here.as('owner').put(here.at, { builds_access_level: 'private' }));
  assert.deepEqual([await statusOf(build), await statusOf(build, 'developer')], [404, 200]);
});

test('files are deleted at their end, except for those of the latest pipeline of a branch that succeeded', async () => {
  const here = await leaving();
  const { as, at, expire, run } = here;
  const statusOf = async (id: number | undefined) => (await here.file(`${id}/artifacts`, 'developer')).status;
  const older = await run();
  const [key] = (await here.artifactsOf(older.build)) as [BlobKey];
  const lasting = await run({ expire_in: 'never' });
  const kept = await run();
  await sent(as('developer').post(`${at}/jobs/${kept.build}/artifacts/keep`));
  const latest = await run();
  const failed = await run({ status: 'failed' });
  await expire();
  assert.deepEqual(
    [
      await statusOf(older.build),
      await statusOf(lasting.build),
      await statusOf(kept.build),
      await statusOf(latest.build),
      await statusOf(failed.build),
    ],
    [404, 200, 200, 200, 200],
  );
  assert.deepEqual([await here.artifactsOf(older.build), await here.services.blobs.stat(key)], [[], undefined]);
  const newest = await run();
  await expire();
  assert.deepEqual(
    [await statusOf(latest.build), await statusOf(failed.build), await statusOf(newest.build)],
    [404, 404, 200],
  );
  await sent(as('owner').put(at, { keep_latest_artifact: false }));
  assert.equal(await statusOf(newest.build), 404);
  await expire();
  assert.equal((await as('developer').post(`${at}/jobs/${newest.build}/artifacts/keep`)).status, 404);
});

test('files of a branch that is gone are not kept as its latest', async () => {
  const here = await leaving();
  await here.commit(`${configuration}\n`, 'Build', 'side');
  const side = await here.run({ ref: 'side' });
  await here.expire();
  assert.equal((await here.file(`${side.build}/artifacts`, 'developer')).status, 200);
  await sent(here.as('maintainer').delete(`${here.at}/repository/branches/side`));
  assert.equal((await here.file(`${side.build}/artifacts`, 'developer')).status, 404);
  await here.expire();
  assert.deepEqual(await here.artifactsOf(side.build), []);
});

test('Maintainers delete the files of a job, or those of all jobs that have ended', async () => {
  const here = await leaving();
  const { as, at, db } = here;
  const counts = async () =>
    (
      await db
        .selectFrom('job_artifacts')
        .select('job_id')
        .where('project_id', '=', here.project.id)
        .orderBy('id')
        .execute()
    ).map(({ job_id }) => job_id);
  const [first, second, third] = [await here.run({ expire_in: 'never' }), await here.run(), await here.run()];
  const running = await here.pipeline();
  const jobs = (await here.jobsOf(running)) as Record<string, { id: number }>;
  const job = { id: jobs.build!.id, token: await held(db, jobs.build!.id) };
  await sendFile(here, job, zipped(files));
  await sendFile(here, job, gzipped('A=1'), report('dotenv'));
  for (const path of [`jobs/${first.build}/artifacts`, 'artifacts'])
    assert.equal((await as('developer').delete(`${at}/${path}`)).status, 403);
  assert.equal((await as('maintainer').delete(`${at}/jobs/0/artifacts`)).status, 404);
  await sent(as('maintainer').delete(`${at}/jobs/${second.build}/artifacts`));
  assert.deepEqual(await counts(), [first.build, third.build, job.id, job.id]);
  const answer = await as('maintainer').delete(`${at}/artifacts`);
  assert.deepEqual([answer.status, answer.body], [202, { message: '202 Accepted' }]);
  await performQueued(here.services, [removeProjectArtifacts]);
  assert.deepEqual(await counts(), [third.build, job.id, job.id]);
});
