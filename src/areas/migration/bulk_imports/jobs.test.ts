import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import {
  archive,
  entitiesOf,
  migrated,
  runMigrations as run,
  type ShownEntity,
} from '../../../../test/support/migrations.ts';
import { onMain } from '../../../../test/support/repository.ts';
import { migrationPlace, type SourceEntity } from '../../../../test/support/source.ts';
import { repositoryOf } from '../../../git/index.ts';

const times = { created_at: '2020-01-02T03:04:05.678Z', updated_at: '2020-01-02T03:04:05.678Z' };
const label = (title: string) => ({
  title,
  color: '#112233',
  description: null,
  type: 'ProjectLabel',
  priorities: [],
  ...times,
});
const issue = (iid: number) => ({
  iid,
  title: `Pick ${iid}`,
  description: '',
  state: 'opened',
  author_id: 3,
  ...times,
  label_links: [{ target_type: 'Issue', label: label('ripe') }],
  notes: [],
});

/** A group with a subgroup and two projects, one of them with content. */
const orchard = (): SourceEntity[] => [
  {
    ...{
      type: 'group',
      id: 7,
      full_path: 'orchard',
      attributes: { name: 'Orchard', visibility: 'public', created_at: '2015-01-02T03:04:05.678Z' },
    },
    relations: {
      self: [{ visibility_level: 20, max_iids: { epics: 5 } }],
      labels: [[{ ...label('shared'), type: 'GroupLabel' }]],
    },
    members: [{ id: 1, name: 'Importer', access_level: 50, expires_at: null }],
  },
  { type: 'group', id: 9, full_path: 'orchard/meadow', relations: { self: [{}] } },
  {
    ...{
      type: 'project',
      id: 8,
      full_path: 'orchard/apples',
      attributes: { name: 'Apples', description: 'Red', created_at: '2016-01-02T03:04:05.678Z' },
    },
    relations: {
      self: [{ topics: ['fruit'], issues_access_level: 10, squash_option: 'always', max_iids: { issues: 700 } }],
      labels: [[label('ripe'), label('green')], [label('red')]],
      issues: [Array.from({ length: 450 }, (_, index) => issue(index + 1)), [issue(451)]],
      designs: [{ iid: 1 }],
      releases: [],
      webhooks_count: [{ hooks: 2, push_mirrors: 1, triggers: 0 }],
    },
    members: [{ id: 44, name: 'Unknown', access_level: 30, expires_at: null }],
  },
];

test('a group is copied with its subgroups, projects, labels and issues, and one mail reports it', async (t) => {
  const here = await migrationPlace(t, orchard());
  const { as, db, services, group, source, people } = here;
  const events = await db.selectFrom('events').select('id').execute();
  const id = await migrated(here);
  await run(here);
  const { body: migration } = await as('owner').get(`/bulk_imports/${id}`);
  assert.deepEqual([migration.status, migration.has_failures], ['finished', true]);
  const [top, meadow, apples] = (await entitiesOf(here, id)) as [ShownEntity, ShownEntity, ShownEntity];
  assert.deepEqual(
    [top, meadow, apples].map((each) => [each.status, each.destination_full_path]),
    ['', '/meadow', '/apples'].map((path) => ['finished', `${group.full_path}/copy${path}`]),
  );
  const { body: shown } = await as('owner').get(`/projects/${apples.project_id}`);
  assert.deepEqual(
    [shown.name, shown.description, shown.visibility, shown.topics, shown.issues_access_level, shown.squash_option],
    ['Apples', 'Red', 'private', ['fruit'], 'private', 'always'],
  );
  const { body: group_shown } = await as('owner').get(`/groups/${top.namespace_id}`);
  assert.deepEqual(
    [group_shown.created_at, shown.created_at],
    ['2015-01-02T03:04:05.678Z', '2016-01-02T03:04:05.678Z'],
  );
  const { body: labels } = await as('owner').get(`/projects/${apples.project_id}/labels`);
  assert.deepEqual(labels.map(({ name }: { name: string }) => name).sort(), ['green', 'red', 'ripe', 'shared']);
  const { body: last } = await as('owner').get(`/projects/${apples.project_id}/issues/451`);
  assert.deepEqual([last.title, last.created_at, last.labels], ['Pick 451', '2020-01-02T03:04:05.678Z', ['ripe']]);
  assert.equal((await as('owner').post(`/projects/${apples.project_id}/issues`, { title: 'Next' })).body.iid, 701);
  assert.deepEqual(apples.stats.issues, { source: 451, fetched: 451, imported: 451 });
  assert.deepEqual(apples.stats.labels, { source: 3, fetched: 3, imported: 3 });
  const left = (source: number) => ({ source, fetched: 0, imported: 0 });
  assert.deepEqual(apples.stats.webhooks_count, left(3));
  assert.deepEqual(
    [apples.stats['webhooks_count, hooks'], apples.stats['webhooks_count, push_mirrors']],
    [left(2), left(1)],
  );
  assert.deepEqual(apples.failures.map(({ relation, exception_class }) => `${relation} ${exception_class}`).sort(), [
    'designs NotSupported',
    'members UserNotFound',
    'webhooks_count, push_mirrors NotSupported',
  ]);
  const { body: told } = await as('owner').get(
    `/projects/${apples.project_id}/audit_events?event_name=project_imported`,
  );
  assert.deepEqual(
    told.map(({ author_id }: { author_id: number }) => author_id),
    [people.owner.id],
  );
  const after = await db.selectFrom('events').select('id').execute();
  assert.equal(after.length, events.length + 1, 'only the issue that was created afterwards');
  const mails = (await readdir(`${services.downloads}/../mail`)).length;
  assert.equal(mails, 1);
  assert.deepEqual(await readdir(services.downloads), []);
  const { rows } = await sql<{ payload: string }>`select payload::text from graphile_worker._private_jobs`.execute(db);
  assert.ok(!rows.some(({ payload }) => payload.includes(source.token)));
  assert.equal(people.owner.id > 0, true);
});

test('the repository, large files and uploads are imported with the texts that refer to them', async (t) => {
  const here = await migrationPlace(t);
  const { as, source, services, project: filled } = here;
  await as('maintainer').post(`/projects/${filled.id}/repository/files/README.md`, { ...onMain, content: 'apples' });
  const bundle = path.join(services.downloads, '..', 'test.bundle');
  const { path: repository } = repositoryOf(services, { id: filled.id, storage: 'default' });
  await promisify(execFile)('git', ['-C', repository, 'bundle', 'create', bundle, '--all']);
  const [secret, content] = ['0123456789abcdef'.repeat(2), 'a large file'];
  const oid = createHash('sha256').update(content).digest('hex');
  const [other, long] = ['fedcba9876543210'.repeat(2), `${'ä'.repeat(150)}.txt`];
  const avatar_url = `${source.url}/uploads/-/system/project/avatar/8/logo.png`;
  const pixels = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(500)]);
  source.answers.set('GET /projects/orchard%2Fapples/avatar', (response) => response.writeHead(200).end(pixels));
  source.entities = [
    {
      type: 'project',
      id: 8,
      full_path: 'orchard/apples',
      attributes: { default_branch: 'main', avatar_url },
      relations: {
        self: [{ archived: true }],
        repository: await archive({ 'repository.bundle': await readFile(bundle), '../evil': 'x' }),
        lfs_objects: await archive({ [oid]: content, ['0'.repeat(64)]: 'another', 'lfs_objects.json': '{}' }),
        issues: [{ ...issue(1), description: `[long](/uploads/${other}/${encodeURIComponent(long)})` }],
        uploads: await archive({
          [`${secret}/notes.txt`]: 'noted',
          [`${other}/${long}`]: 'long',
          '/etc/passwd': 'x',
          'a/b': 'x',
        }),
      },
    },
  ];
  const id = await migrated(here, { source_type: 'project_entity', source_full_path: 'orchard/apples' });
  await run(here);
  const [apples] = await entitiesOf(here, id);
  assert.equal(apples!.status, 'finished');
  const url = `/projects/${apples!.project_id}`;
  const headers = { 'private-token': here.people.owner.token };
  const raw = async (of: string) => (await fetch(`${here.url}/api/v4${url}/${of}`, { headers })).text();
  assert.equal(await raw('repository/files/README.md/raw?ref=main'), 'apples');
  assert.equal((await as('owner').get(url)).body.archived, true);
  const { body: uploads } = await as('owner').get(`${url}/uploads`);
  assert.deepEqual(uploads.map(({ filename }: { filename: string }) => filename).sort(), [
    'notes.txt',
    `${'ä'.repeat(125)}.txt`,
  ]);
  assert.equal(await raw(`uploads/${secret}/notes.txt`), 'noted');
  const { body: linking } = await as('owner').get(`${url}/issues/1`);
  const [, address] = /^\[long\]\(\/(.+)\)$/.exec(linking.description)!;
  assert.equal(await raw(address!), 'long');
  assert.match((await as('owner').get(url)).body.avatar_url, /logo\.png$/);
  assert.deepEqual(
    apples!.failures.map(({ relation, exception_message }) => `${relation}: ${exception_message}`),
    [
      'lfs_objects: The SHA-256 of the content is not that of its name.',
      'uploads: The entry is refused: unexpected name.',
      'uploads: The entry is refused: unexpected name.',
    ],
  );
  assert.deepEqual(apples!.stats.lfs_objects, { source: 2, fetched: 2, imported: 1 });
  assert.deepEqual(await readdir(services.downloads), []);
});

test('an interrupted run continues after the last record, and writes nothing twice', async (t) => {
  const here = await migrationPlace(t, orchard());
  const { db, as } = here;
  const id = await migrated(here, { source_type: 'project_entity', source_full_path: 'orchard/apples' });
  // The third portion of issues is refused once, as a process that dies in between would leave it.
  await sql`create function break_off() returns trigger language plpgsql as $$
    begin
      if (select count(*) from issues where project_id = new.project_id) > 400 and (select count(*) from breaks) = 0
      then raise exception using errcode = '57P01'; end if;
      return new;
    end $$`.execute(db);
  await sql`create table breaks (id integer)`.execute(db);
  await sql`create trigger break_off before insert on issues for each row execute function break_off()`.execute(db);
  t.after(() => sql`drop function break_off cascade; drop table breaks`.execute(db));
  await assert.rejects(run(here));
  const journal = await db
    .selectFrom('bulk_import_relations')
    .innerJoin('bulk_import_entities', 'bulk_import_entities.id', 'entity_id')
    .select(['bulk_import_relations.state', 'batch', 'line'])
    .where('relation', '=', 'issues')
    .where('bulk_import_id', '=', id)
    .executeTakeFirstOrThrow();
  assert.deepEqual(journal, { state: 'started', batch: 1, line: 400 });
  await sql`insert into breaks values (1)`.execute(db);
  // As after a restore: a backup has no downloaded files.
  await rm(here.services.downloads, { recursive: true });
  await run(here);
  const [apples] = await entitiesOf(here, id);
  assert.equal(apples!.status, 'finished');
  assert.deepEqual(apples!.stats.issues, { source: 451, fetched: 451, imported: 451 });
  const issues = await db.selectFrom('issues').select('iid').where('project_id', '=', apples!.project_id!).execute();
  assert.equal(issues.length, 451);
  assert.equal((await as('owner').get(`/bulk_imports/${id}`)).body.status, 'finished');
});

test('lines that are not records are failures, and beyond a hundred they are only counted', async (t) => {
  const here = await migrationPlace(t);
  const lines = Array.from({ length: 4421 }, () => '[]');
  here.source.entities = [
    {
      type: 'project',
      id: 8,
      full_path: 'orchard/apples',
      relations: { self: [{}], labels: [label('ok'), ...lines] as object[] },
    },
  ];
  const id = await migrated(here, { source_type: 'project_entity', source_full_path: 'orchard/apples' });
  await run(here);
  const [apples] = await entitiesOf(here, id);
  assert.deepEqual(apples!.stats.labels, { source: 4422, fetched: 4422, imported: 1 });
  const url = `/bulk_imports/${id}/entities/${apples!.id}/failures`;
  const { body: page } = await here.as('owner').get(url, { per_page: 100, page: 2 });
  assert.deepEqual(
    page.map((each: ShownEntity['failures'][number]) => [each.exception_class, each.exception_message]),
    [['InvalidContent', '… and 4,321 more']],
  );
});

test('a canceled migration sends no more requests to the source, and a retry runs its unfinished steps', async (t) => {
  const here = await migrationPlace(t, orchard());
  const { as, source } = here;
  const id = await migrated(here);
  source.answers.set('GET /groups/orchard/export_relations/download', (response) => {
    source.answers.clear();
    void as('owner')
      .post(`/bulk_imports/${id}/cancel`)
      .then(() => response.destroy());
  });
  await run(here);
  assert.equal((await as('owner').get(`/bulk_imports/${id}`)).body.status, 'canceled');
  const asked = source.requests.length;
  await run(here);
  assert.equal(source.requests.length, asked);
  assert.equal((await as('owner').post(`/bulk_imports/${id}/retry`, { access_token: source.token })).status, 200);
  await run(here);
  const entities = await entitiesOf(here, id);
  assert.deepEqual(
    entities.map(({ status }) => status),
    ['finished', 'finished', 'finished'],
  );
  assert.deepEqual(entities[2]!.stats.issues, { source: 451, fetched: 451, imported: 451 });
});

test('requests to an unreachable source are retried, and given up after half an hour', async (t) => {
  const here = await migrationPlace(t, orchard());
  const { db, source, as } = here;
  const id = await migrated(here);
  let answers = 0;
  source.answers.set('GET /groups/orchard/export_relations/status', (response) => {
    answers += 1;
    if (answers === 3) source.answers.clear();
    response.writeHead(503, { 'retry-after': '7' }).end();
  });
  await run(here);
  assert.equal(answers, 3);
  assert.equal((await as('owner').get(`/bulk_imports/${id}`)).body.status, 'finished');
  const second = await migrated(here, { destination_slug: 'second' });
  source.answers.set('POST /groups/orchard/export_relations', async (response) => {
    await db
      .updateTable('bulk_import_relations')
      .set({ silent_since: sql<string>`now() - interval '31 minutes'` })
      .where('state', '=', 'started')
      .execute();
    response.writeHead(500).end();
  });
  await run(here);
  const [failed] = await entitiesOf(here, second);
  assert.deepEqual([failed!.status, failed!.failures[0]!.exception_class], ['failed', 'NetworkError']);
  assert.equal((await as('owner').get(`/bulk_imports/${second}`)).body.status, 'failed');
});

test('running migrations pause while the setting is off', async (t) => {
  const here = await migrationPlace(t, orchard());
  const id = await migrated(here);
  const settings = (bulk_import_enabled: boolean) =>
    here.as('admin').put('/application/settings', { bulk_import_enabled });
  await settings(false);
  const asked = here.source.requests.length;
  await run(here);
  assert.equal(here.source.requests.length, asked);
  await settings(true);
  await run(here);
  assert.equal((await here.as('owner').get(`/bulk_imports/${id}`)).body.status, 'finished');
});
