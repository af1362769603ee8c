/** Migrations from sources that want to harm: each attempt is a failure, the rest arrives, and other requests are answered meanwhile. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { type Header, pack } from 'tar-stream';
import { performQueued } from '../../../../test/support/jobs.ts';
import { leadHere } from '../../../../test/support/names.ts';
import { isLong } from '../../../../test/support/runs.ts';
import { migrationOf, migrationPlace, type SourceEntity } from '../../../../test/support/source.ts';
import type { World } from '../../../../test/support/world.ts';
import { groupTrees, projectTrees } from '../relations.ts';
import { bulkImportWork } from './index.ts';

const { jobs, polls } = bulkImportWork({ group: groupTrees, project: projectTrees });
const MiB = 2 ** 20;
const secret = '0123456789abcdef'.repeat(2);
const times = { created_at: '2020-01-02T03:04:05.678Z', updated_at: '2020-01-02T03:04:05.678Z' };
const label = (title: string) => ({
  title,
  color: '#112233',
  description: null,
  type: 'ProjectLabel',
  priorities: [],
  ...times,
});

/** Compressed zeros: a gzip stream may have many members. */
const zeros = (size_MiB: number): Buffer => {
  const member = gzipSync(Buffer.alloc(16 * MiB), { level: 9 });
  return Buffer.concat(new Array<Buffer>(size_MiB / 16).fill(member));
};

const lines = (...texts: string[]): Buffer => gzipSync(texts.map((text) => `${text}\n`).join(''));

interface Entry extends Partial<Header> {
  name: string;
  content?: string;
}

async function archive(...entries: Entry[]): Promise<Buffer> {
  const packed = pack();
  for (const { content = '', ...header } of entries) packed.entry(header, content);
  packed.finalize();
  return gzipSync(await buffer(packed));
}

/** An archive whose only entry claims to be larger than all that follows. */
async function lyingArchive(): Promise<Buffer> {
  const packed = pack();
  packed.entry({ name: `${secret}/large` }, 'x'.repeat(10_000));
  packed.finalize();
  return gzipSync((await buffer(packed)).subarray(0, 1024));
}

interface ShownEntity {
  id: number;
  status: string;
  source_full_path: string;
  project_id: number | null;
  failures: { relation: string; exception_class: string; exception_message: string }[];
  stats: Record<string, { source: number; fetched: number; imported: number }>;
}

interface Outcome {
  id: number;
  /** By the path below `orchard`. */
  entities: Map<string, ShownEntity>;
  /** How many requests of another caller were answered meanwhile. */
  answered: number;
}

const label_1 = JSON.stringify(label('after'));

/** Migrates a group while another caller asks the server. */
async function migrate(here: Awaited<ReturnType<typeof migrationPlace>>, destination_slug = 'copy'): Promise<Outcome> {
  const { as, source, services, db } = here;
  await sql`delete from request_counts where name = 'bulk_import'`.execute(db);
  const begun = await as('owner').post('/bulk_imports', migrationOf(source, [here.entity({ destination_slug })]));
  assert.equal(begun.status, 201, JSON.stringify(begun.body));
  const running = { isOver: false };
  const answered = askMeanwhile(here, running);
  await performQueued(services, [...jobs, ...polls]).finally(() => {
    running.isOver = true;
  });
  const { body: migration } = await as('owner').get(`/bulk_imports/${begun.body.id}`);
  assert.equal(migration.status, 'finished');
  const { body } = await as('owner').get(`/bulk_imports/${begun.body.id}/entities`, { per_page: 100 });
  const entities = (body as ShownEntity[]).map(
    (entity) => [entity.source_full_path.replace(/^orchard\//, ''), entity] as const,
  );
  assert.deepEqual(await readdir(services.downloads), []);
  return { id: begun.body.id, entities: new Map(entities), answered: await answered };
}

/** As many requests as a server that is free answers soon. */
const maximumAsked = 100;

async function askMeanwhile({ as, project }: World, running: { isOver: boolean }): Promise<number> {
  let answered = 0;
  for (; !running.isOver && answered < maximumAsked; answered++)
    assert.equal((await as('owner').get(`/projects/${project.id}`)).status, 200);
  return answered;
}

const failuresOf = ({ failures }: ShownEntity): string[] =>
  failures.map((each) => `${each.relation} ${each.exception_class}: ${each.exception_message}`).sort();

async function restrict({ as }: World, t: TestContext, changes: Record<string, unknown>): Promise<void> {
  const { body: before } = await as('admin').get('/application/settings');
  const names = Object.keys(changes);
  await as('admin').put('/application/settings', changes);
  t.after(() =>
    as('admin').put('/application/settings', Object.fromEntries(names.map((name) => [name, before[name]]))),
  );
}

const orchard: SourceEntity = { type: 'group', id: 7, full_path: 'orchard', relations: { self: [{}] } };

/** A project with a milestone, which must arrive whatever else it has. */
const project = (name: string, relations: SourceEntity['relations'] = {}, attributes = {}): SourceEntity => ({
  type: 'project',
  id: 100,
  full_path: `orchard/${name}`,
  attributes,
  relations: { self: [{}], ...relations, milestones: [{ iid: 1, title: 'Harvest', state: 'active', ...times }] },
});

/** Compares the failures of each entity, and whether the milestones of those that finished have arrived. */
function inspect({ entities, answered }: Omit<Outcome, 'id'>, expected: Record<string, string[]>): void {
  assert.deepEqual(Object.fromEntries([...entities].map(([name, entity]) => [name, failuresOf(entity)])), {
    orchard: [],
    ...expected,
  });
  for (const [name, { status, stats, project_id }] of entities)
    if (status === 'finished' && project_id !== null)
      assert.deepEqual(stats.milestones, { source: 1, fetched: 1, imported: 1 }, name);
  assert.equal(answered, maximumAsked);
}

test('malicious names, links, sizes and texts are failures, and everything else is imported', async (t) => {
  const unexpected = 'uploads InvalidRecord: The entry is refused: unexpected name.';
  const irregular = 'uploads InvalidRecord: The entry is refused: not a regular file.';
  const polluting = `"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}`;
  const admin = `"id":1,"project_id":1,"creator_id":1,"import_url":"http://127.0.0.1/","repository_storage":"evil","path":"evil"`;
  const here = await migrationPlace(t, [
    {
      ...orchard,
      members: [
        { id: 6, username: 'group_7_bot_0123456789abcdef', name: 'Robot', access_level: 30, expires_at: null },
        { id: 5, username: 'a\0b', name: `${'n'.repeat(300)}\0`, access_level: 30, expires_at: null },
      ],
    },
    project('paths', {
      uploads: await archive(
        ...['../../evil', '/etc/evil', `${secret}/../evil`, `${secret}/a/b`].map((name) => ({ name, content: 'x' })),
        { name: `${secret}/fine`, content: 'x' },
      ),
    }),
    project('links', {
      uploads: await archive(
        { name: `${secret}/link`, type: 'symlink', linkname: '/etc/passwd' },
        { name: `${secret}/hard`, type: 'link', linkname: '/etc/passwd' },
        { name: `${secret}/device`, type: 'character-device' },
        { name: `${secret}/pipe`, type: 'fifo' },
      ),
    }),
    project('bundle', {
      repository: await archive({ name: 'repository.bundle', type: 'symlink', linkname: '/etc/passwd' }),
    }),
    project('sizes', { uploads: await lyingArchive() }),
    project('names', {
      self: lines(`{${polluting},${admin}}`),
      labels: lines(`{${polluting},${admin},${label_1.slice(1)}`),
    }),
    project('branch', {}, { default_branch: '../HEAD.lock' }),
    project('texts', {
      labels: lines(`{"title":"a\\u0000b"}`, JSON.stringify(label('\ud800')), 'null', '{"title":', '\xff', label_1),
    }),
  ]);
  const outcome = await migrate(here);
  inspect(outcome, {
    orchard: ['members UserNotFound: There is no account here.'],
    paths: [unexpected, unexpected, unexpected, unexpected],
    links: [irregular, irregular, irregular, irregular],
    bundle: ['repository InvalidContent: The archive has an entry that is refused: not a regular file.'],
    sizes: ['uploads InvalidContent: The archive is broken off.'],
    names: [],
    branch: ['project InvalidRecord: default_branch is invalid'],
    texts: [
      'labels InvalidContent: Line 3: The line is no JSON object.',
      'labels InvalidContent: Line 4: It is not JSON.',
      'labels InvalidContent: Line 5: It is not JSON.',
      'labels InvalidRecord: title is invalid',
      'labels InvalidRecord: title is invalid',
    ],
  });
  assert.equal(outcome.entities.get('paths')!.stats.uploads!.imported, 1);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  const { body: named } = await here.as('owner').get(`/projects/${outcome.entities.get('names')!.project_id}`);
  assert.deepEqual([named.path, named.creator_id, named.import_url], ['names', here.people.owner.id, null]);
});

test('a line that is too long is dropped, and an archive that unpacks to more than the limit fails', async (t) => {
  const here = await migrationPlace(t, [
    orchard,
    project('line', { labels: Buffer.concat([zeros(isLong ? 1024 : 64), lines('', label_1)]) }),
  ]);
  const { entities, answered } = await migrate(here);
  inspect({ entities, answered }, { line: ['labels LimitExceeded: Line 1: The line is longer than 50 MB.'] });
  assert.deepEqual(entities.get('line')!.stats.labels, { source: 2, fetched: 2, imported: 1 });
  await restrict(here, t, { max_decompressed_archive_size: 40 });
  here.source.entities = [
    orchard,
    project('bomb', { labels: zeros(48) }),
    project('archive-bomb', { uploads: zeros(48) }),
    project('bundle-bomb', { repository: zeros(48) }),
  ];
  const tooLarge = 'LimitExceeded: The file unpacks to more than 41943040 bytes.';
  inspect(await migrate(here, 'second'), {
    bomb: [`labels ${tooLarge}`],
    'archive-bomb': [`uploads ${tooLarge}`],
    'bundle-bomb': [`repository ${tooLarge}`],
  });
});

/** Answers with these bytes again and again. */
function endlessly(response: ServerResponse, bytes: Buffer): void {
  const write = () => {
    while (!response.destroyed && response.write(bytes));
  };
  response.on('drain', write);
  write();
}

test('answers without an end, with a wrong length, or of the wrong kind are failures', async (t) => {
  const gzip = { 'content-type': 'application/gzip' };
  const whole = lines(label_1);
  const here = await migrationPlace(t, [
    orchard,
    project('endless-json'),
    project('no-json'),
    project('endless-file', { labels: (response) => endlessly(response.writeHead(200, gzip), zeros(16)) }),
    project('short', {
      labels: (response) => response.writeHead(200, { ...gzip, 'content-length': 9 }).end(whole.subarray(0, 9)),
    }),
    project('page', {
      labels: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sign in</p>'),
    }),
    project('plain', { labels: (response) => response.writeHead(200, gzip).end(label_1) }),
    project('gone', { labels: (response) => response.writeHead(404).end() }),
    project('text', {
      labels: (response) => response.writeHead(403, { 'content-type': 'a'.repeat(5000) }).end('b'.repeat(1e6)),
    }),
  ]);
  await restrict(here, t, { bulk_import_max_download_file_size: 1 });
  here.source.answers.set('GET /projects/orchard%2Fendless-json', (response) =>
    endlessly(response, Buffer.alloc(65_536, ' ')),
  );
  here.source.answers.set('GET /projects/orchard%2Fno-json', (response) => response.end('['.repeat(1000)));
  const outcome = await migrate(here);
  inspect(outcome, {
    'endless-json': ['project LimitExceeded: The answer is larger than 20971520 bytes.'],
    'no-json': ['project LimitExceeded: The JSON is nested more than 64 levels deep.'],
    'endless-file': ['labels LimitExceeded: The file is larger than 1048576 bytes.'],
    short: ['labels InvalidContent: The file is not gzip, or is damaged or broken off.'],
    page: ['labels InvalidContent: The source did not answer with a file.'],
    plain: ['labels InvalidContent: The file is not gzip, or is damaged or broken off.'],
    gone: ['labels NetworkError: The source answered 404.'],
    text: ['labels NetworkError: The source answered 403.'],
  });
  assert.deepEqual(
    ['endless-json', 'no-json', 'endless-file'].map((name) => outcome.entities.get(name)!.status),
    ['failed', 'failed', 'finished'],
  );
});

test('a source that breaks off every download is given up, like one that does not respond', async (t) => {
  let tries = 0;
  const here = await migrationPlace(t, [
    orchard,
    project('broken', {
      labels: async (response) => {
        tries += 1;
        // As if the first attempt had been long ago.
        assert.ok(tries <= 3);
        if (tries === 3)
          await sql`update bulk_import_relations set silent_since = now() - interval '31 minutes' where silent_since is not null`.execute(
            here.db,
          );
        response.writeHead(200, { 'content-type': 'application/gzip', 'content-length': 1000, etag: `"${tries}"` });
        response.write('x', () => response.destroy());
      },
    }),
  ]);
  inspect(await migrate(here), { broken: ['labels NetworkError: ECONNRESET: aborted.'] });
  assert.equal(tries, 3);
});

test('the error message of a failed export is shown without the paths of its files', async (t) => {
  const here = await migrationPlace(t, [orchard, project('leak')]);
  const exported = (relation: string, error: string | null) => {
    const state = { status: error === null ? 1 : -1, error, batched: false, batches_count: 0, total_objects_count: 1 };
    return { relation, ...state };
  };
  const error = "Errno::ENOENT: No such file @ rb_sysopen - /var/opt/forge/tmp/labels.gz (in '/srv/export.rb')";
  const states = [exported('self', null), exported('milestones', null), exported('labels', error)];
  here.source.answers.set('GET /projects/orchard%2Fleak/export_relations/status', (response) =>
    response.end(JSON.stringify(states)),
  );
  inspect(await migrate(here), {
    leak: [
      "labels ExportFailed: The source could not export it: Errno::ENOENT: No such file @ rb_sysopen - … (in '…')",
    ],
  });
});

test('a redirect that is not followed fails at once, without a retry', async (t) => {
  const to = (location: string) => (response: ServerResponse) => response.writeHead(302, { location }).end();
  const here = await migrationPlace(t, [
    orchard,
    project('file', { labels: to('file:///etc/passwd') }),
    project('login', { labels: to('http://user:secret@example.com/') }),
    project('circle', { labels: to('/api/v4/projects/orchard%2Fcircle/export_relations/download?relation=labels') }),
  ]);
  inspect(await migrate(here), {
    file: ['labels NetworkError: Redirected to an address that is not allowed.'],
    login: ['labels NetworkError: Redirected to an address that is not allowed.'],
    circle: ['labels NetworkError: Redirected too often.'],
  });
  const downloads = here.source.requests.filter((asked) => asked.endsWith('orchard%2Ffile/export_relations/download'));
  // Its labels, its milestones and twice what it is itself.
  assert.ok(downloads.length <= 6, `${downloads.length} downloads`);
});

const unfitText =
  "path can only include non-accented letters, digits, '_', '-' and '.'. It must not start with '-', '_', or '.', nor end with '-', '_', '.', '.git', or '.atom'.";

test('groups that contain themselves, are too deep or have too many projects are failures', async (t) => {
  const group = (full_path: string, id: number): SourceEntity => ({ ...orchard, id, full_path });
  const chain = Array.from({ length: 22 }, (_, depth) => group(`orchard${'/deep'.repeat(depth)}`, 10 + depth));
  const here = await migrationPlace(t, [...chain, group('orchard/many', 50)]);
  const { answers } = here.source;
  const listed = [
    'orchard',
    'orchard/deep',
    'orchard/deep',
    'orchard/many',
    'orchard/deep/deep',
    'orchard/../up',
    '/etc',
    7,
    null,
  ];
  const unfit = ['', '-x', '.', 'x.git', 'x'.repeat(3000)].map((name) => `orchard/${name}`);
  const odd = [...listed, 'orchards/x', ...unfit].map((full_path) => ({
    full_path,
  }));
  answers.set('GET /groups/orchard/subgroups', (response) => response.end(JSON.stringify([...odd, 'text', null])));
  const many = Array.from({ length: 10_001 }, (_, id) => ({ path_with_namespace: `orchard/many/${id}` }));
  answers.set('GET /groups/orchard%2Fmany/projects', (response) => response.end(JSON.stringify(many)));
  const { entities, id } = await migrate(here);
  const failed = [...entities].flatMap(([name, entity]) =>
    entity.failures.length > 0 ? [[name, ...failuresOf(entity)]] : [],
  );
  assert.equal(entities.size, 21);
  assert.deepEqual(failed.shift(), [
    'orchard',
    ...[unfitText, unfitText, unfitText, 'path is too long (maximum is 255 characters)', "path can't be blank"]
      .map((text) => `entities InvalidRecord: The group is left out: ${text}`)
      .sort(),
  ]);
  const { body: named } = await here.as('owner').get(`/bulk_imports/${id}/entities/${entities.get('orchard')!.id}`);
  assert.deepEqual(
    named.failures.map(({ source_title }: { source_title: string }) => source_title),
    ['', '-x', '.', 'x.git', 'x'.repeat(255)],
  );
  assert.deepEqual(failed, [
    ['many', 'entities LimitExceeded: The migration has more than 10000 entities.'],
    [
      `deep${'/deep'.repeat(18)}`,
      'group InvalidRecord: Failed to save group {:parent_id=>["has too deep level of nesting"]}',
    ],
  ]);
});

test('of many refused records, a hundred are shown and the others are counted', async (t) => {
  const count = isLong ? 100_000 : 10_000;
  const failing = Array.from({ length: count }, () => '{}');
  const here = await migrationPlace(t, [orchard, project('failing', { labels: lines(...failing, label_1) })]);
  const outcome = await migrate(here);
  const { id, stats } = outcome.entities.get('failing')!;
  assert.deepEqual(stats.labels, { source: count + 1, fetched: count + 1, imported: 1 });
  const at = `/bulk_imports/${outcome.id}/entities/${id}/failures`;
  const { body: page } = await here.as('owner').get(at, { per_page: 100, page: 2 });
  const texts = page.map((each: ShownEntity['failures'][number]) => each.exception_message);
  assert.deepEqual(texts, [`… and ${(count - 100).toLocaleString('en-US')} more`]);
  assert.equal(outcome.answered, maximumAsked);
});

test('a host name that resolves to this machine later is refused at every connection', async (t) => {
  const here = await migrationPlace(t);
  leadHere(t, 'source.example.com');
  const named = { ...here.source, url: here.source.url.replace('127.0.0.1', 'source.example.com') };
  const { as, services } = here;
  await sql`delete from request_counts where name = 'bulk_import'`.execute(here.db);
  const body = migrationOf(named, [here.entity()]);
  const begun = await as('owner').post('/bulk_imports', body);
  assert.equal(begun.status, 201);
  const asked = here.source.requests.length;
  await restrict(here, t, { allow_local_requests_from_web_hooks_and_services: false });
  await performQueued(services, [...jobs, ...polls]);
  const { body: entities } = await as('owner').get(`/bulk_imports/${begun.body.id}/entities`);
  assert.deepEqual(entities.map(failuresOf), [['export NetworkError: Requests to localhost are not allowed.']]);
  const again = await as('owner').post('/bulk_imports', body);
  assert.deepEqual(
    [again.status, again.body.message],
    [422, 'Import failed. The URL is blocked: Requests to localhost are not allowed'],
  );
  assert.equal(here.source.requests.length, asked);
});
