import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { fileForm } from '../../../../test/support/uploads.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { readListing } from '../../../lockfiles/files.ts';
import { readerVersion } from './file_actions.ts';
import { keepDependencies, scanDependencies, writeDependencyExport } from './index.ts';

const lockOf = (file: string) =>
  readFileSync(path.join(import.meta.dirname, '../../../../test/lockfiles', file), 'utf8');
const scan = (here: World) => performQueued(here.services, [scanDependencies]);

type Action = { action: string; file_path: string; content?: string; previous_path?: string };

/** Commits to the default branch and reads what it lists. */
async function commit(here: World, actions: Action[], branch = 'main'): Promise<string[]> {
  const body = { branch, commit_message: 'Change dependencies', actions };
  const { status } = await here.as('maintainer').post(`/projects/${here.project.id}/repository/commits`, body);
  assert.equal(status, 201);
  return scan(here);
}

const created = (file_path: string, content: string): Action => ({ action: 'create', file_path, content });

test('the dependencies of the default branch are listed after each change of it', async () => {
  const here = await world({});
  const { as, project, db } = here;
  const url = `/projects/${project.id}/dependencies`;
  const list = async (query = {}) => (await as('reporter').get(url, query)).body as { name: string; version: string }[];
  const names = async (query = {}) => (await list(query)).map(({ name, version }) => `${name}@${version}`);
  const files = async () => (await as('reporter').get(`${url}/files`)).body;

  await commit(here, [
    created('package-lock.json', lockOf('npm3/package-lock.json')),
    created('api/Cargo.lock', lockOf('cargo/Cargo.lock')),
    created('api/go.sum', 'broken\n'),
    created('tests/yarn.lock', lockOf('yarn1/yarn.lock')),
    created('app/requirements.txt', '-r more/base.pip\nflask==1.0\n'),
    created('app/more/base.pip', 'Six==1.0\n'),
  ]);
  const all = await list({ per_page: 50 });
  assert.equal(all.length, 7 + 3 + 2);
  assert.deepEqual(
    all.find(({ name }) => name === 'kind-of'),
    {
      name: 'kind-of',
      version: '6.0.2',
      direct: true,
      development: false,
      package_manager: 'npm',
      dependency_file_path: 'package-lock.json',
      licenses: [{ name: 'MIT License', spdx_identifier: 'MIT', url: 'https://spdx.org/licenses/MIT.html' }],
    },
  );
  assert.deepEqual(await names({ package_manager: 'cargo,pip' }), [
    'itoa@1.0.19',
    'maybe-uninit@2.0.0',
    'smallvec@0.6.13',
    'flask@1.0',
    'six@1.0',
  ]);
  assert.deepEqual(await names({ package_manager: ['pip'], per_page: 1, page: 2 }), ['six@1.0']);
  assert.deepEqual(await names({ package_manager: 'nuget' }), []);
  const refused = await as('reporter').get(url, { package_manager: 'npm,rust' });
  assert.deepEqual([refused.status, refused.body.error], [400, 'package_manager does not have a valid value']);
  assert.deepEqual(await files(), [
    { path: 'api/Cargo.lock', package_manager: 'cargo', document_id: null, count: 3, error: null },
    { path: 'api/go.sum', package_manager: 'go', document_id: null, count: 0, error: 'It is not a list of checksums.' },
    { path: 'app/more/base.pip', package_manager: 'pip', document_id: null, count: 1, error: null },
    { path: 'app/requirements.txt', package_manager: 'pip', document_id: null, count: 1, error: null },
    { path: 'package-lock.json', package_manager: 'npm', document_id: null, count: 7, error: null },
  ]);

  // A changed file keeps the ids of what it lists still; an unchanged one is not read again; one that goes takes its entries along.
  const ids = async () =>
    db.selectFrom('dependencies').select(['id', 'name']).where('project_id', '=', project.id).orderBy('id').execute();
  const before = await ids();
  const readAt = () =>
    db
      .selectFrom('dependency_files')
      .select('updated_at')
      .where('project_id', '=', project.id)
      .where('path', '=', 'package-lock.json')
      .execute();
  const readBefore = await readAt();
  const cargo = lockOf('cargo/Cargo.lock').replace('version = "1.0.19"', 'version = "1.0.20"');
  await commit(here, [
    { ...created('api/Cargo.lock', cargo), action: 'update' },
    { action: 'delete', file_path: 'app/requirements.txt' },
  ]);
  assert.deepEqual(await names({ package_manager: 'cargo' }), ['maybe-uninit@2.0.0', 'smallvec@0.6.13', 'itoa@1.0.20']);
  assert.deepEqual(await names({ package_manager: 'pip' }), []);
  const kept = new Set((await ids()).map(({ id }) => id));
  assert.ok(before.every(({ id, name }) => kept.has(id) !== ['itoa', 'flask', 'six'].includes(name)));
  assert.deepEqual(await readAt(), readBefore);

  // Another branch changes nothing until it is the default branch.
  const branch = { branch: 'next', ref: 'main' };
  await as('maintainer').post(`/projects/${project.id}/repository/branches`, branch);
  assert.deepEqual(await commit(here, [{ action: 'delete', file_path: 'package-lock.json' }], 'next'), []);
  assert.equal((await names({ package_manager: 'npm' })).length, 7);
  await as('maintainer').put(`/projects/${project.id}`, { default_branch: 'next' });
  assert.deepEqual(await scan(here), ['scan_dependencies']);
  assert.deepEqual(await names({ package_manager: 'npm' }), []);

  // Packages that nothing lists any more are forgotten a day later, and projects that were never read are.
  await sql`update package_versions set created_at = now() - interval '2 days'`.execute(db);
  await db.deleteFrom('dependency_scans').execute();
  await performJob(here.services, keepDependencies);
  const left = await db.selectFrom('package_versions').select('advised_name').orderBy('advised_name').execute();
  assert.deepEqual(
    left.map(({ advised_name }) => advised_name),
    ['itoa', 'maybe-uninit', 'smallvec'],
  );
  assert.deepEqual(await scan(here), ['scan_dependencies']);
  const scans = await db.selectFrom('dependency_scans').select('project_id').execute();
  assert.deepEqual(scans, [{ project_id: project.id }]);
});

test('dependencies are shown to callers who may read the code or hold the permission', async () => {
  const here = await world({});
  const { as, project, group, db, people } = here;
  const url = `/projects/${project.id}/dependencies`;
  await commit(here, [created('Cargo.lock', lockOf('cargo/Cargo.lock'))]);
  const statuses = async (at: string) =>
    Promise.all(
      (['anonymous', 'outsider', 'guest', 'reporter', 'admin'] as const).map(
        async (persona) => (await as(persona).get(at)).status,
      ),
    );
  assert.deepEqual(await statuses(url), [401, 404, 403, 200, 200]);
  assert.deepEqual(await statuses(`${url}/files`), [401, 404, 403, 200, 200]);
  assert.deepEqual(await statuses(`/groups/${group.id}/dependencies`), [401, 404, 403, 200, 200]);
  const [first] = (await as('reporter').get(`/groups/${group.id}/dependencies`, { package_manager: 'cargo' })).body;
  assert.deepEqual(
    [first.name, first.project],
    ['itoa', { id: project.id, name: first.project.name, path_with_namespace: project.full_path }],
  );

  const role = { name: 'Security', base_access_level: 10, read_dependency: true };
  const { id } = await db.insertInto('member_roles').values(role).returning('id').executeTakeFirstOrThrow();
  await as('owner').put(`/groups/${group.id}/members/${people.guest.id}`, { access_level: 10, member_role_id: id });
  assert.deepEqual(await statuses(url), [401, 404, 200, 200, 200]);
  assert.deepEqual(await statuses(`/groups/${group.id}/dependencies`), [401, 404, 200, 200, 200]);

  await as('owner').put(`/projects/${project.id}`, { repository_access_level: 'disabled' });
  assert.deepEqual(await statuses(url), [401, 404, 403, 403, 403]);
  assert.deepEqual((await as('reporter').get(`/groups/${group.id}/dependencies`)).body, []);
});

test('a bill of materials is uploaded, replaced and deleted', async () => {
  const here = await world({});
  const { as, project } = here;
  const url = `/projects/${project.id}/dependency_documents`;
  const bom = (version: string) =>
    JSON.stringify({
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      components: [{ purl: `pkg:npm/left@${version}` }, { purl: 'pkg:gem/rack@2.0.1' }],
    });
  const listed = async () =>
    (await as('reporter').get(`/projects/${project.id}/dependencies`)).body.map(
      (each: Record<string, string>) =>
        `${each.package_manager} ${each.name}@${each.version} in ${each.dependency_file_path}`,
    );
  const send = (persona: 'reporter' | 'developer', name: string, content: string) =>
    as(persona).post(url, undefined, { raw: fileForm(name, content) });

  assert.equal((await send('reporter', 'app.json', bom('1.0.0'))).status, 403);
  const broken = await send('developer', 'app.json', '{}');
  assert.deepEqual([broken.status, broken.body.message], [400, 'It is not a CycloneDX document.']);
  assert.deepEqual(await listed(), []);
  const added = await send('developer', 'app.json', bom('1.0.0'));
  assert.deepEqual([added.status, added.body], [201, { id: added.body.id, path: 'app.json', count: 2 }]);
  assert.equal((await send('developer', 'app.json', bom('1.1.0'))).body.id, added.body.id);
  // What the branch lists does not touch it.
  await commit(here, [created('Cargo.lock', lockOf('cargo/Cargo.lock'))]);
  assert.deepEqual((await listed()).slice(0, 2), ['bundler rack@2.0.1 in app.json', 'npm left@1.1.0 in app.json']);
  assert.equal((await listed()).length, 5);
  assert.equal((await as('developer').delete(`${url}/${added.body.id}`)).status, 204);
  assert.equal((await as('developer').delete(`${url}/${added.body.id}`)).status, 404);
  assert.equal((await listed()).length, 3);
});

test('dependencies are exported as CycloneDX, SPDX and CSV by the user who asked', async () => {
  const here = await world({});
  const { as, project, db } = here;
  const url = `/projects/${project.id}/dependency_list_exports`;
  const lock = lockOf('npm3/package-lock.json').replace('node_modules/mkdirp"', 'node_modules/@=SUM(1)/a,b"');
  await commit(here, [created('package-lock.json', lock), created('go.mod', lockOf('go/go.mod'))]);
  const vulnerability = { project_id: project.id, cluster: 'CVE-1', name: 'CVE-1', severity: 5 };
  await db.insertInto('vulnerabilities').values(vulnerability).execute();
  const record = {
    record_id: 'CVE-1',
    aliases: [],
    cluster: 'CVE-1',
    name: 'CVE-1',
    summary: '',
    details: '',
    severity: 5,
    links: [],
  };
  const stored = await db
    .insertInto('advisories')
    .values({ ...record, modified_at: new Date().toISOString() })
    .returning('id')
    .executeTakeFirstOrThrow();
  await sql`
    insert into package_advisories select package_version_id, ${stored.id} from dependencies
     where project_id = ${project.id} and name = 'minimist' and version = '1.2.5'`.execute(db);
  const exported = async (persona: 'reporter' | 'developer', export_type?: string) => {
    const made = await as(persona).post(url, export_type === undefined ? {} : { export_type });
    assert.deepEqual([made.status, made.body.status, made.body.has_finished], [201, 'created', false]);
    const own = `/dependency_list_exports/${made.body.id}`;
    assert.equal(made.body.download, `${here.services.url}/api/v4${own}/download`);
    const waiting = await as(persona).get(own);
    assert.deepEqual([waiting.status, waiting.body], [202, made.body]);
    const early = await as(persona).get(`${own}/download`);
    assert.deepEqual([early.status, early.body.message], [404, '404 DependencyListExport Not Found']);
    assert.deepEqual(await performQueued(here.services, [writeDependencyExport]), ['write_dependency_export']);
    const ready = await as(persona).get(own);
    assert.deepEqual([ready.status, ready.body], [200, { ...made.body, status: 'finished', has_finished: true }]);
    assert.equal((await as('owner').get(own)).status, 404);
    assert.equal((await as('owner').get(`${own}/download`)).status, 404);
    last = own;
    return as(persona).get(`${own}/download`);
  };
  let last = '';
  assert.equal((await as('guest').post(url)).status, 403);
  assert.equal((await as('reporter').post(url, { export_type: 'pdf' })).status, 400);

  const bom = (await exported('developer')).body;
  const cyclonedx = JSON.parse(bom);
  assert.deepEqual([cyclonedx.specVersion, cyclonedx.components.length], ['1.6', 14]);
  assert.equal(
    cyclonedx.components.find(({ name }: { name: string }) => name === 'gopkg.in/yaml.v2').purl,
    'pkg:golang/gopkg.in/yaml.v2@v2.2.8',
  );
  assert.deepEqual(
    cyclonedx.vulnerabilities.map((each: { id: string; ratings: unknown }) => [each.id, each.ratings]),
    [['CVE-1', [{ severity: 'critical' }]]],
  );
  assert.equal(readListing(Buffer.from(bom), 'export.cdx.json').entries.length, 14);
  assert.equal(JSON.parse((await exported('reporter')).body).vulnerabilities, undefined);

  const spdx = (await exported('reporter', 'spdx_2_3_json')).body;
  assert.equal(readListing(Buffer.from(spdx), 'export.spdx.json').entries.length, 14);
  const lines = (await exported('developer', 'csv')).body.split('\r\n');
  assert.equal(lines[0], 'name,version,package_manager,dependency_file_path,licenses,vulnerabilities');
  assert.ok(lines.includes('"\'@=SUM(1)/a,b",0.5.1,npm,package-lock.json,MIT,'), lines.join('\n'));
  assert.ok(lines.includes('minimist,1.2.5,npm,package-lock.json,MIT,CVE-1 (critical)'));

  // It lists what was listed then, for as long as the user could ask for it again; one that no job could write has failed.
  await commit(here, [{ action: 'delete', file_path: 'go.mod' }]);
  assert.equal((await as('developer').get(`${last}/download`)).body.split('\r\n').length, lines.length);
  await as('owner').put(`/groups/${here.group.id}/members/${here.people.developer.id}`, { access_level: 20 });
  assert.deepEqual(
    [(await as('developer').get(last)).status, (await as('developer').get(`${last}/download`)).status],
    [403, 403],
  );
  const stuck = (await as('reporter').post(url)).body.id;
  await sql`update dependency_list_exports set created_at = now() - interval '2 hours'`.execute(db);
  await performJob(here.services, keepDependencies);
  const failed = await as('reporter').get(`/dependency_list_exports/${stuck}`);
  assert.deepEqual([failed.status, failed.body.status, failed.body.has_finished], [200, 'failed', false]);
  // An export that goes leaves its file to the job that removes what is not used.
  await sql`update dependency_list_exports set expires_at = now() - interval '1 hour'`.execute(db);
  assert.equal((await as('reporter').get(`/dependency_list_exports/${stuck}`)).status, 404);
  await performJob(here.services, keepDependencies);
  const unused = await db
    .selectFrom('unused_blobs')
    .select('key')
    .where('key', 'like', 'dependency_exports/%')
    .execute();
  assert.equal(unused.length, 4);
});

test('a package that is removed while a file with it is stored is added again', async () => {
  const here = await world({});
  const { as, project, db } = here;
  const lock = lockOf('cargo/Cargo.lock').replaceAll('itoa', 'forgotten');
  const body = { branch: 'main', commit_message: 'Add', actions: [created('Cargo.lock', lock)] };
  await as('maintainer').post(`/projects/${project.id}/repository/commits`, body);
  const old = { ecosystem: 'crates.io', advised_name: 'forgotten', version: '1.0.19', is_matched: true };
  const { id } = await db.insertInto('package_versions').values(old).returning('id').executeTakeFirstOrThrow();
  await sql`update package_versions set created_at = now() - interval '2 days'`.execute(db);

  // The scan stops where it has looked its packages up and stores the file.
  const scanning = await db.transaction().execute(async (tx) => {
    await tx.selectFrom('projects').select('id').where('id', '=', project.id).forUpdate().execute();
    const scanning = scan(here);
    for (;;) {
      const { rows } =
        await sql`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%for key share%'`.execute(
          db,
        );
      if (rows.length > 0) break;
    }
    await performJob(here.services, keepDependencies);
    assert.equal(
      await db.selectFrom('package_versions').select('id').where('id', '=', id).executeTakeFirst(),
      undefined,
    );
    return { scanning };
  });
  await scanning.scanning;
  const named = await db
    .selectFrom('dependencies')
    .leftJoin('package_versions', 'package_versions.id', 'package_version_id')
    .select(['dependencies.name', 'advised_name'])
    .where('project_id', '=', project.id)
    .orderBy('dependencies.id')
    .execute();
  assert.deepEqual(
    named.map(({ name, advised_name }) => [name, advised_name]),
    ['forgotten', 'maybe-uninit', 'smallvec'].map((name) => [name, name]),
  );
});

test('configured files are read even below test folders, and constraints of pip are read', async () => {
  const here = await world();
  const { as, project } = here;
  const url = `/projects/${project.id}`;
  const listed = async () =>
    (await as('reporter').get(`${url}/dependencies`)).body.map(
      ({ name, dependency_file_path }: Record<string, string>) => `${name} in ${dependency_file_path}`,
    );
  await commit(here, [
    created('test/Cargo.lock', lockOf('cargo/Cargo.lock').replaceAll('itoa', 'tested')),
    created('test/requirements.txt', 'six==1.0\n'),
    created('requirements.txt', '-c shared/limits\nflask\n'),
    created('shared/limits', 'flask==1.0\n'),
  ]);
  assert.deepEqual(await listed(), ['flask in shared/limits']);

  const dependency_paths = ['test/Cargo.lock', 'tests/nothing/go.mod'];
  assert.equal((await as('developer').put(url, { dependency_paths })).status, 403);
  assert.equal((await as('maintainer').put(url, { dependency_paths: ['test/readme.md'] })).status, 400);
  assert.deepEqual(await scan(here), []);
  const changed = await as('maintainer').put(url, { dependency_paths });
  assert.deepEqual([changed.status, changed.body.dependency_paths], [200, dependency_paths]);
  assert.deepEqual(await scan(here), ['scan_dependencies']);
  assert.deepEqual(await listed(), [
    'flask in shared/limits',
    ...['tested', 'maybe-uninit', 'smallvec'].map((name) => `${name} in test/Cargo.lock`),
  ]);
  assert.equal((await as('guest').get(url)).body.dependency_paths, undefined);
  await as('maintainer').put(url, { dependency_paths: [] });
  await scan(here);
  assert.deepEqual(await listed(), ['flask in shared/limits']);
});

test('versions and licenses missing in a file come from its parents and from package files', async () => {
  const here = await world();
  const { as, project } = here;
  const pom = (inner: string) => `<project><groupId>g</groupId><version>1.0</version>${inner}</project>`;
  const parent = '<parent><groupId>g</groupId><artifactId>all</artifactId><version>1.0</version></parent>';
  const dependencies = (version: string) =>
    `<dependencies><dependency><groupId>g</groupId><artifactId>core</artifactId><version>${version}</version></dependency></dependencies>`;
  const root = (core: string) => pom(`<artifactId>all</artifactId><properties><core>${core}</core></properties>`);
  const license = 'Permission is hereby granted, free of charge, to any person obtaining a copy of this software';
  const listed = async () =>
    (await as('reporter').get(`/projects/${project.id}/dependencies`)).body
      .map((each: { name: string; version: string; licenses: { spdx_identifier: string }[] }) =>
        [`${each.name}@${each.version}`, ...each.licenses.map(({ spdx_identifier }) => spdx_identifier)].join(' '),
      )
      .toSorted();
  await commit(here, [
    created('pom.xml', root('1.0')),
    created('app/pom.xml', pom(`${parent}<artifactId>app</artifactId>${dependencies(`\${${'core'}}`)}`)),
    created(
      'core/pom.xml',
      pom(
        '<artifactId>core</artifactId><licenses><license><name>Apache License, Version 2.0</name></license></licenses>',
      ),
    ),
    created('go.mod', 'module m\nrequire a.b/c v1.0.0\nrequire a.b/d v1.0.0\n'),
    created('vendor/a.b/c/LICENSE', license),
    created('vendor/a.b/d/LICENSE', 'Ask us.'),
  ]);
  assert.deepEqual(await listed(), ['a.b/c@v1.0.0 MIT', 'a.b/d@v1.0.0 unknown', 'g/core@1.0 Apache-2.0']);

  // A change of a parent, or of a license, reaches what it is about although the file that lists it is the same; a parent that goes takes its versions along.
  await commit(here, [
    { action: 'update', file_path: 'pom.xml', content: root('2.0') },
    { action: 'delete', file_path: 'vendor/a.b/c/LICENSE' },
    { action: 'update', file_path: 'vendor/a.b/d/LICENSE', content: license },
  ]);
  assert.deepEqual(await listed(), ['a.b/c@v1.0.0 unknown', 'a.b/d@v1.0.0 MIT', 'g/core@2.0 unknown']);
  await commit(here, [{ action: 'delete', file_path: 'pom.xml' }]);
  assert.deepEqual(await listed(), ['a.b/c@v1.0.0 unknown', 'a.b/d@v1.0.0 MIT']);
  // A circle of parents is a reason that is shown.
  await commit(here, [
    created(
      'pom.xml',
      pom(
        `<parent><groupId>g</groupId><artifactId>app</artifactId><relativePath>app</relativePath></parent><artifactId>all</artifactId>`,
      ),
    ),
  ]);
  const files = (await as('reporter').get(`/projects/${project.id}/dependencies/files`)).body;
  assert.deepEqual(
    files.map((each: { path: string; error: string | null }) => [each.path, each.error]),
    [
      ['app/pom.xml', 'Its parents form a circle.'],
      ['core/pom.xml', null],
      ['go.mod', null],
      ['pom.xml', 'Its parents form a circle.'],
    ],
  );
});

test('a NuGet project is read again when central versions above it change, and entries without a version are reported', async () => {
  const here = await world();
  const { as, project } = here;
  const url = `/projects/${project.id}/dependencies`;
  const versions = (version: string) =>
    `<Project><ItemGroup><PackageVersion Include="Grafting" Version="${version}"/></ItemGroup></Project>`;
  const own =
    '<Project><ItemGroup><PackageReference Include="Grafting"/><PackageReference Include="Pruning"/></ItemGroup></Project>';
  const listed = async () =>
    (await as('reporter').get(url)).body.map(({ name, version }: Record<string, string>) => `${name}@${version}`);
  await commit(here, [created('src/own/own.csproj', own), created('Directory.Packages.props', versions('1.0.0'))]);
  assert.deepEqual(await listed(), ['Grafting@1.0.0']);
  const [{ error, count }] = (await as('reporter').get(`${url}/files`)).body;
  assert.deepEqual([error, count], ['An entry is not understood: Pruning', 1]);
  await commit(here, [{ action: 'update', file_path: 'Directory.Packages.props', content: versions('2.0.0') }]);
  assert.deepEqual(await listed(), ['Grafting@2.0.0']);
  // A nearer file counts instead.
  await commit(here, [created('src/Directory.Packages.props', versions('3.0.0'))]);
  assert.deepEqual(await listed(), ['Grafting@3.0.0']);
});

test('files that take too much time or memory delay only other files of their project', async (t) => {
  const here = await world();
  const { as, project } = here;
  const lock = lockOf('cargo/Cargo.lock');
  const post = Worker.prototype.postMessage;
  // What the thread reports when a file takes more memory than it may have: such a file would take the test minutes.
  const mocked = t.mock.method(Worker.prototype, 'postMessage', function (this: Worker, request: { path?: string }) {
    if (!request.path?.startsWith('costly/')) return post.call(this, request);
    setImmediate(() => this.emit('error', Object.assign(new Error('heap'), { code: 'ERR_WORKER_OUT_OF_MEMORY' })));
  });
  const files = async () =>
    (await as('reporter').get(`/projects/${project.id}/dependencies/files`)).body.map(
      ({ path, count, error }: Record<string, string>) => [path, count, error].join(' '),
    );
  const costly = [1, 2, 3].map((number) => `costly/${number}/Cargo.lock`);
  await commit(here, [
    ...costly.map((path) => created(path, `${lock}# ${path}\n`)),
    ...['after/Cargo.lock', 'x/Cargo.lock'].map((path) => created(path, lock)),
  ]);
  const unread = costly.map((path) => `${path} 0 Reading it takes too much memory.`);
  assert.deepEqual(await files(), [
    'after/Cargo.lock 3 ',
    ...unread,
    'x/Cargo.lock 0 It is not read, because other files of the project take too long.',
  ]);
  // The next change reads what waited, and what cannot be read not again.
  const calls = mocked.mock.callCount();
  await commit(here, [created('readme.txt', 'x')]);
  assert.deepEqual(await files(), ['after/Cargo.lock 3 ', ...unread, 'x/Cargo.lock 3 ']);
  assert.equal(mocked.mock.callCount(), calls + 1);
  // Nor is its content where it has another path.
  await commit(here, [created('moved/Cargo.lock', `${lock}# ${costly[0]}\n`)]);
  assert.deepEqual((await files()).slice(-2), [
    'moved/Cargo.lock 0 Reading it takes too much memory.',
    'x/Cargo.lock 3 ',
  ]);
  assert.equal(mocked.mock.callCount(), calls + 1);
});

test('files beyond the first thousand are listed as unread', async () => {
  const here = await world();
  const { as, project, db } = here;
  const url = `/projects/${project.id}/dependencies`;
  const numbers = Array.from({ length: 999 }, (_, index) => String(index).padStart(3, '0'));
  const lock = lockOf('cargo/Cargo.lock');
  await as('maintainer').post(`/projects/${project.id}/repository/commits`, {
    branch: 'main',
    commit_message: 'Many',
    actions: [
      ...numbers.map((number) => created(`a/${number}/Cargo.lock`, '')),
      created('b/Cargo.lock', lock),
      created('c/Cargo.lock', lock),
    ],
  });
  // Most were read before: only what is about the limit is of interest.
  await sql`
    insert into dependency_files (project_id, path, blob_id, reader_version, package_manager, count)
    select ${project.id}, 'a/' || number || '/Cargo.lock', 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391', ${readerVersion}, 'cargo', 0
      from unnest(${numbers}::text[]) number`.execute(db);
  await scan(here);
  const last = async () => (await as('reporter').get(`${url}/files`, { per_page: 100, page: 11 })).body;
  const paths = async () =>
    (await as('reporter').get(url)).body.map((each: Record<string, string>) => each.dependency_file_path);
  const read = (path: string) => ({ path, package_manager: 'cargo', document_id: null, count: 3, error: null });
  const error = 'The project has more than 1,000 files that list dependencies.';
  assert.deepEqual(await last(), [{ ...read('c/Cargo.lock'), count: 0, error }]);
  assert.deepEqual(new Set(await paths()), new Set(['b/Cargo.lock']));

  // One that comes before pushes another one out, and one that goes lets both in.
  await commit(here, [created('a/Cargo.lock', lock)]);
  assert.deepEqual(await last(), [
    { ...read('b/Cargo.lock'), count: 0, error },
    { ...read('c/Cargo.lock'), count: 0, error },
  ]);
  assert.deepEqual(new Set(await paths()), new Set(['a/Cargo.lock']));
  await commit(here, [
    { action: 'delete', file_path: 'a/Cargo.lock' },
    { action: 'delete', file_path: 'a/000/Cargo.lock' },
  ]);
  assert.deepEqual(new Set(await paths()), new Set(['b/Cargo.lock', 'c/Cargo.lock']));
  assert.deepEqual(await last(), []);
});
