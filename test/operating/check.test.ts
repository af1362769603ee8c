import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { settleReferenceUpdates } from '../../src/areas/code/repository/index.ts';
import { copyFork } from '../../src/areas/spaces/projects/index.ts';
import {
  concludeMerges,
  followMergeRequests,
  keepMerged,
  prepareMergeRequest,
} from '../../src/areas/work/merge_requests/index.ts';
import type { BlobKey } from '../../src/blobs/index.ts';
import { check as checkCommand } from '../../src/commands/check.ts';
import { readConfig } from '../../src/config.ts';
import {
  allRefs,
  diskPath,
  headBranch,
  keepAroundRef,
  mergeRequestRef,
  objectFiles,
  type Repository,
  repositoryOf,
  resolveBranch,
  setHead,
  setKeptRefs,
  updateRefs,
} from '../../src/git/index.ts';
import { blobsOf } from '../../src/services/index.ts';
import { check } from '../../src/upkeep/check.ts';
import type { Finding } from '../../src/upkeep/finding.ts';
import { sharedDatabase } from '../support/database.ts';
import { addIssue } from '../support/issues.ts';
import { performQueued } from '../support/jobs.ts';
import { addBranch, addMergeRequest } from '../support/merge_requests.ts';
import { fileUrl, filledWorld, repositoryIn } from '../support/repository.ts';
import { upload } from '../support/uploads.ts';
import type { World } from '../support/world.ts';

const longAgo = new Date(Date.now() - 3 * 24 * 60 * 60_000);

let before: World | undefined;

/** A filled world alone on its server: what earlier tests have left is gone, so that a check neither finds nor walks it. */
async function onlyWorld(): Promise<World> {
  before ??= await filledWorld();
  const { db, services } = before;
  for (const table of ['projects', 'snippets', 'lfs_objects', 'uploads'] as const) await db.deleteFrom(table).execute();
  await db.deleteFrom('namespaces').where('kind', '=', 'group').execute();
  for (const folder of Object.values(services.storages)) await emptyFolder(folder);
  before = await filledWorld();
  return before;
}

async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(path.join(folder, name), { recursive: true });
}

function configOf({ services }: World) {
  const data = path.dirname(services.storages.default!);
  return readConfig({ COPPICE_DATA: data, COPPICE_URL: services.url });
}

async function findingsIn(world: World): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const finding of check({ db: world.db, config: configOf(world), signal: new AbortController().signal }))
    findings.push(finding);
  return findings;
}

const sentences = async (world: World) => (await findingsIn(world)).map(({ sentence }) => sentence);

const ifRight = 'If that is right, `check --accept-refs` records it.';

/** Runs the command as an operator does, on the database of a world. */
async function command(t: TestContext, world: World, words: { switches?: object; text?: object }) {
  const { connectionString } = await sharedDatabase();
  const said: string[] = [];
  const printed = t.mock.method(console, 'log', (line: string) => said.push(line));
  try {
    const given = { lists: {}, switches: { ...words.switches }, text: { ...words.text } };
    return { code: await checkCommand.run(given, { ...configOf(world), databaseUrl: connectionString }), said };
  } finally {
    printed.mock.restore();
  }
}

async function repairAll(world: World): Promise<string[]> {
  const said: string[] = [];
  for (const { repair } of await findingsIn(world)) if (repair) said.push(await repair());
  return said;
}

test('a consistent server has no findings, and inconsistencies are found and repaired', async () => {
  const world = await onlyWorld();
  const { db, project, people, group } = world;
  const repository = repositoryIn(world);
  assert.deepEqual(await sentences(world), []);

  await setHead(repository, 'elsewhere');
  await db.updateTable('projects').set({ empty_repo: true }).where('id', '=', project.id).execute();
  await db.deleteFrom('project_authorizations').where('user_id', '=', people.developer.id).execute();
  await db
    .insertInto('group_authorizations')
    .values({ user_id: people.outsider.id, group_id: group.id, access_level: 50 })
    .execute();
  const orphan = path.join(world.services.storages.default!, `${diskPath(987_654)}.git`);
  await mkdir(orphan, { recursive: true });
  await utimes(orphan, longAgo, longAgo);
  const head = (await resolveBranch(repository, 'main'))!;
  const updates = JSON.stringify([{ ref: 'refs/heads/main', old: null, new: head }]);
  await db
    .insertInto('reference_updates')
    .values({ project_id: project.id, updates, created_at: longAgo.toISOString() })
    .execute();

  const found = await sentences(world);
  const { full_path } = project;
  assert.deepEqual(
    [
      `${full_path}: ref updates that began at ${longAgo.toISOString()} were never settled.`,
      `${orphan} belongs to no project.`,
      `${full_path}: HEAD points to elsewhere, but the default branch is main.`,
    ].filter((sentence) => !found.includes(sentence)),
    [],
  );
  assert.ok(
    found.includes(
      `${group.full_path}: authorizations differ from the memberships: 1 are missing and 1 should not exist.`,
    ),
    found.join('\n'),
  );

  await repairAll(world);
  assert.deepEqual(await sentences(world), []);
  assert.equal(await headBranch(repository), 'main');
  const { empty_repo } = await db
    .selectFrom('projects')
    .select('empty_repo')
    .where('id', '=', project.id)
    .executeTakeFirstOrThrow();
  assert.equal(empty_repo, false);
  assert.equal(await stat(orphan).catch(() => undefined), undefined);
});

test('lost, returned and added refs are found, and what was lost is brought back, never written off', async () => {
  const world = await onlyWorld();
  const { db, project } = world;
  const { full_path } = project;
  const repository = repositoryIn(world);
  const as = world.as('maintainer');
  const url = `/projects/${project.id}`;
  await as.post(`${url}/repository/branches`, { branch: 'side', ref: 'main' });
  await as.post(`${url}/repository/branches`, { branch: 'gone', ref: 'main' });
  await as.delete(`${url}/repository/branches/gone`);
  const side = { branch: 'side', commit_message: 'On the side', content: 'x' };
  await as.post(fileUrl(project, 'side.txt'), side);
  assert.deepEqual(await sentences(world), []);

  const [head, tip] = [(await resolveBranch(repository, 'main'))!, (await resolveBranch(repository, 'side'))!];
  await updateRefs(repository, [
    { ref: 'refs/heads/gone', old: null, new: head },
    { ref: 'refs/heads/planted', old: null, new: head },
  ]);
  assert.deepEqual(await sentences(world), [
    `${full_path}: the branch gone exists, but no push created it. ${ifRight}`,
    `${full_path}: the branch planted exists, but no push created it. ${ifRight}`,
  ]);
  await updateRefs(
    repository,
    ['gone', 'planted', 'main', 'side'].map((name) => ({
      ref: `refs/heads/${name}`,
      old: name === 'side' ? tip : head,
      new: null,
    })),
  );
  const found = await sentences(world);
  assert.ok(
    found.includes(
      `${full_path}: the branch side is missing; the last push left it at ${tip}. \`check --recover\` brings it back.`,
    ),
    found.join('\n'),
  );
  await repairAll(world);
  const { empty_repo } = await db
    .selectFrom('projects')
    .select('empty_repo')
    .where('id', '=', project.id)
    .executeTakeFirstOrThrow();
  assert.equal(empty_repo, false, 'the trace of what was lost is still there');

  for (const { recover } of await findingsIn(world)) await recover?.();
  assert.deepEqual([await resolveBranch(repository, 'main'), await resolveBranch(repository, 'side')], [head, tip]);
  const fork = (await world.as('reporter').post(`${url}/fork`, { path: 'copy' })).body;
  await performQueued(world.services, [copyFork]);
  assert.deepEqual(await sentences(world), [], 'also with a fork, whose refs were copied');
  await sql`delete from projects where id = ${fork.id}`.execute(db);
});

test('what one repair cannot do does not keep the others from being made', async (t) => {
  const world = await onlyWorld();
  const { db, project, services } = world;
  const repository = repositoryIn(world);
  await setHead(repository, 'elsewhere');
  const orphan = path.join(services.storages.default!, `${diskPath(987_655)}.git`);
  await mkdir(orphan, { recursive: true });
  await utimes(orphan, longAgo, longAgo);
  // A file where the folder for what is set aside would be.
  const aside = path.join(services.storages.default!, '.unowned');
  await writeFile(aside, '');
  const { code, said } = await command(t, world, { switches: { fix: true } });
  assert.equal(code, 1);
  assert.match(said[1]!, /^ {2}This failed: .*a file is where a folder should be/);
  assert.ok(said.includes('  HEAD now points to main.'), said.join('\n'));
  assert.equal(said.at(-1), '2 problems found, 1 left after the repairs.');
  assert.equal(await headBranch(repository), 'main');
  await rm(aside);
  await rm(orphan, { recursive: true });
  await sql`delete from projects where id = ${project.id}`.execute(db);
});

test('recovering ends without a problem when none remains, also where files of refs are damaged', async (t) => {
  const world = await onlyWorld();
  const { db, project } = world;
  const repository = repositoryIn(world);
  await addBranch(world, 'topic');
  await addMergeRequest(world);
  await performQueued(world.services, [prepareMergeRequest]);
  const head = (await resolveBranch(repository, 'main'))!;
  await setKeptRefs(repository, new Map([[keepAroundRef(head), head]]));
  const before = await allRefs(repository);
  const names = ['refs/heads/main', 'refs/heads/topic', keepAroundRef(head), mergeRequestRef(1, 'head')];
  for (const name of names) {
    // Anew, so that this process does not take the folder for unchanged.
    await rm(path.join(repository.path, name));
    await writeFile(path.join(repository.path, name), '');
  }
  const { code, said } = await command(t, world, { switches: { recover: true } });
  assert.deepEqual(
    [code, said.at(-1)],
    [0, `${said.filter((line) => !line.startsWith('  ')).length - 1} problems found, all repaired.`],
    said.join('\n'),
  );
  assert.deepEqual(await allRefs(repository), before);
  await sql`delete from projects where id = ${project.id}`.execute(db);
});

test('refs that changed outside a push are accepted as they are', async (t) => {
  const world = await onlyWorld();
  const { db, project, as } = world;
  const { full_path } = project;
  const repository = repositoryIn(world);
  for (const name of ['topic', 'gone']) await addBranch(world, name);
  await addMergeRequest(world);
  await performQueued(world.services, [prepareMergeRequest]);
  const [main, topic] = await Promise.all(
    ['main', 'topic'].map(async (name) => (await resolveBranch(repository, name))!),
  );
  const { body: snippet } = await as('maintainer').post(`/projects/${project.id}/snippets`, {
    title: 'Fruit',
    files: [{ file_path: 'a.txt', content: 'apples' }],
  });
  const ofSnippet = repositoryOf(world.services, { id: snippet.id, storage: 'default', folder: '@snippets' });
  const first = (await resolveBranch(ofSnippet, 'main'))!;
  const put = { files: [{ action: 'create', file_path: 'b.txt', content: 'bees' }] };
  assert.equal((await as('maintainer').put(`/projects/${project.id}/snippets/${snippet.id}`, put)).status, 200);
  const second = (await resolveBranch(ofSnippet, 'main'))!;
  const gone = (await resolveBranch(repository, 'gone'))!;
  await updateRefs(repository, [
    { ref: 'refs/heads/topic', old: topic!, new: main! },
    { ref: 'refs/heads/gone', old: gone, new: null },
    { ref: 'refs/tags/planted', old: null, new: main! },
  ]);
  await updateRefs(ofSnippet, [{ ref: 'refs/heads/main', old: second, new: first }]);
  assert.equal((await sentences(world)).length, 5);

  const accepted = await command(t, world, { text: { 'accept-refs': full_path.toUpperCase() } });
  assert.deepEqual(accepted, {
    code: 0,
    said: [
      `${full_path}: the branch gone is recorded as deleted; it was at ${gone}.`,
      `${full_path}: the branch topic is recorded at ${main}; before, it was at ${topic}.`,
      `${full_path}: the tag planted is recorded at ${main}; it was not recorded before.`,
    ],
  });
  const path_of_snippet = `${full_path}/snippets/${snippet.id}`;
  assert.equal((await command(t, world, { text: { 'accept-refs': path_of_snippet } })).code, 0);
  assert.deepEqual((await command(t, world, { text: { 'accept-refs': full_path } })).said, [
    `${full_path}: all branches and tags are where the last push left them.`,
  ]);
  await performQueued(world.services, [followMergeRequests]);
  assert.deepEqual(await sentences(world), []);
  const { body: files } = await as('maintainer').get(`/projects/${project.id}/snippets/${snippet.id}`);
  assert.deepEqual(
    files.files.map((file: { path: string }) => file.path),
    ['a.txt'],
  );
  const { body: shown } = await as('maintainer').get(`/projects/${project.id}/merge_requests/1`);
  assert.equal(shown.sha, main, 'the merge request follows its branch');
  await assert.rejects(
    command(t, world, { text: { 'accept-refs': 'orchard/nothing' } }),
    /There is no project, snippet or wiki orchard\/nothing/,
  );
  await sql`delete from projects where id = ${project.id}`.execute(db);
});

test('commits without any ref are offered as branches', async () => {
  const world = await onlyWorld();
  const repository = repositoryIn(world);
  const head = (await resolveBranch(repository, 'main'))!;
  // As in a project that is older than the record of refs.
  await world.db.deleteFrom('recorded_refs').where('project_id', '=', world.project.id).execute();
  await world.db.updateTable('projects').set({ refs_recorded: false }).where('id', '=', world.project.id).execute();
  await updateRefs(repository, [{ ref: 'refs/heads/main', old: head, new: null }]);
  const [lost, dangling] = await findingsIn(world);
  assert.match(lost!.sentence, /records the repository as not empty, but it has no branches/);
  assert.equal(lost!.repair, undefined);
  assert.ok(dangling!.sentence.includes(`1 line of history belongs to no branch; the newest commit is ${head}`));
  assert.equal(await dangling!.recover?.(), 'Created 1 branch below recovered/.');
  assert.equal(await resolveBranch(repository, `recovered/${head.slice(0, 12)}`), head);
  const { rows } = await sql<{ ref: string; target: string }>`
    select ref, target from recorded_refs where project_id = ${world.project.id}`.execute(world.db);
  assert.deepEqual(
    rows,
    [{ ref: `refs/heads/recovered/${head.slice(0, 12)}`, target: head }],
    'as if it had been pushed',
  );
  await sql`delete from projects where id = ${world.project.id}`.execute(world.db);
});

test('a ref update that may still be in progress is pending, and not wrong', async () => {
  const world = await onlyWorld();
  const updates = JSON.stringify([{ ref: 'refs/heads/other', old: null, new: 'f'.repeat(40) }]);
  const left = { project_id: world.project.id, updates, created_at: new Date(Date.now() - 5 * 60_000).toISOString() };
  await world.db.insertInto('reference_updates').values(left).execute();
  const findings = await findingsIn(world);
  assert.deepEqual(
    findings.map(({ pending }) => pending),
    [true],
  );
  await settleReferenceUpdates(world.services, { alone_since: new Date() });
  assert.deepEqual(await sentences(world), [], 'the start of the only server settles it at once');
});

test('a merge that was not concluded, and the lock that prevented it, are found and dealt with', async () => {
  const world = await onlyWorld();
  const { as, db, project } = world;
  await as('maintainer').post(`/projects/${project.id}/issues`, { title: 'Sow' });
  await addBranch(world, 'topic');
  const { id } = await addMergeRequest(world, { description: 'Closes #1', remove_source_branch: true });
  await performQueued(world.services, [prepareMergeRequest]);
  const url = `/projects/${project.id}/merge_requests/1`;
  assert.equal((await as('maintainer').put(`${url}/merge`)).status, 200);
  const [pending, ...others] = await findingsIn(world);
  assert.deepEqual([pending!.pending, others], [true, []], 'a job does it');

  const { merged_at } = await db
    .updateTable('merge_requests')
    .set({ merged_at: '2020-01-01T00:00:00.000Z' })
    .where('id', '=', id)
    .returning('merged_at')
    .executeTakeFirstOrThrow();
  const repository = repositoryIn(world);
  const merged = (await resolveBranch(repository, 'main'))!;
  const lock = `${keepAroundRef(merged)}.lock`;
  await mkdir(path.join(repository.path, path.dirname(lock)), { recursive: true });
  await writeFile(path.join(repository.path, lock), '');
  await utimes(path.join(repository.path, lock), longAgo, longAgo);
  assert.deepEqual(await sentences(world), [
    `${project.full_path}: merge request !1 was merged at ${merged_at}, but its issues, source branch and events were never dealt with.`,
    `${project.full_path}: killed git processes left 1 lock on refs, for example ${lock}.`,
  ]);
  await repairAll(world);
  assert.deepEqual(await sentences(world), []);
  assert.equal((await as('maintainer').get(`/projects/${project.id}/issues/1`)).body.state, 'closed');
  assert.equal(await resolveBranch(repository, 'topic'), undefined);
  await performQueued(world.services, [keepMerged]);
  assert.equal((await allRefs(repository)).get(keepAroundRef(merged)), merged);
});

test('a pointer whose large file the database does not know is reported', async () => {
  const world = await onlyWorld();
  const oid = createHash('sha256').update('gone').digest('hex');
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 4\n`;
  await world.db.updateTable('projects').set({ lfs_enabled: false }).where('id', '=', world.project.id).execute();
  await world
    .as('maintainer')
    .post(fileUrl(world.project, 'large.bin'), { branch: 'main', commit_message: 'Large', content: pointer });
  assert.deepEqual(await sentences(world), [
    `${world.project.full_path}: large.bin points to the LFS object ${oid}, which the database does not know. Push it again from a clone that has it.`,
  ]);
  await sql`delete from projects where id = ${world.project.id}`.execute(world.db);
});

test('rows that refer to users, large files and projects that do not exist are reported', async () => {
  const world = await onlyWorld();
  const { db, project, people } = world;
  const { id: issue_id } = await addIssue(world, { assignee_ids: [people.developer.id] });
  assert.deepEqual(await sentences(world), []);
  const nobody = 987_654_321;
  await db.transaction().execute(async (tx) => {
    // As damage would: without the checks of foreign keys.
    await sql`set local session_replication_role = 'replica'`.execute(tx);
    await tx.insertInto('issue_assignees').values({ issue_id, user_id: nobody }).execute();
    await tx
      .insertInto('lfs_objects_projects')
      .values([
        { project_id: project.id, lfs_object_id: nobody },
        { project_id: project.id, lfs_object_id: nobody + 1 },
      ])
      .execute();
    await sql`
      with file as (
        insert into dependency_files (project_id, path, blob_id, reader_version, count)
        values (${project.id}, 'bom.cdx.json', null, 1, 1) returning id)
      insert into dependencies (project_id, file_id, digest, package_version_id, name, version, package_manager, path, development, licenses)
      select ${project.id}, given.file_id, gen_random_uuid(), ${nobody}, 'left', '1.0.0', 'npm', 'bom.cdx.json', false, '{}'
        from (select id as file_id from file union all select ${nobody}) given`.execute(tx);
  });
  assert.deepEqual(await sentences(world), [
    `issue_assignees: user_id refers to rows of users that do not exist, in 1 row: for example ${nobody}. Restore them from a backup.`,
    `lfs_objects_projects: lfs_object_id refers to rows of lfs_objects that do not exist, in 2 rows: for example ${nobody}. Restore them from a backup.`,
    `dependencies: project_id, file_id refers to rows of dependency_files that do not exist, in 1 row: for example ${project.id}, ${nobody}. Restore them from a backup.`,
    `dependencies: package_version_id refers to rows of package_versions that do not exist, in 2 rows: for example ${nobody}. Restore them from a backup.`,
  ]);
  await repairAll(world);
  assert.equal((await sentences(world)).length, 4, 'a repair does not remove the trace of what is lost');
  await db.deleteFrom('issue_assignees').where('user_id', '=', nobody).execute();
  await db.deleteFrom('lfs_objects_projects').where('lfs_object_id', '>=', nobody).execute();
  await db.deleteFrom('dependencies').where('package_version_id', '=', nobody).execute();
});

test('a damaged object and a missing repository are reported, but not repaired', async () => {
  const world = await onlyWorld();
  const repository = repositoryIn(world);
  const [file] = await objectFiles(repository);
  const object = path.join(repository.path, 'objects', file!);
  await rm(object);
  const damage = await findingsIn(world);
  assert.ok(
    damage.some(
      ({ sentence, repair }) => /the repository is damaged: .*missing|broken|invalid/.test(sentence) && !repair,
    ),
  );

  await rename(repository.path, `${repository.path}.away`);
  const missing = await findingsIn(world);
  assert.ok(
    missing.some(
      ({ sentence, repair }) => sentence.includes(`there is no repository at ${repository.path}`) && !repair,
    ),
  );
  assert.deepEqual((await readdir(path.dirname(repository.path))).length, 1, 'nothing was repaired away');
  await rm(`${repository.path}.away`, { recursive: true });
  await sql`delete from projects where id = ${world.project.id}`.execute(world.db);
});

test('a repository whose files power loss has emptied is reported with what can be repaired, and the others are checked', async () => {
  const world = await onlyWorld();
  const { db, project } = world;
  const { full_path } = project;
  const repository = repositoryIn(world);
  const head = (await resolveBranch(repository, 'main'))!;
  const emptied = (name: string) => writeFile(path.join(repository.path, name), '');
  const other = await world.as('maintainer').post('/projects', { name: 'Other', namespace_id: world.group.id });
  await setHead(repositoryOf(world.services, { id: other.body.id, storage: 'default' }), 'elsewhere');
  const ofOther = `${other.body.path_with_namespace}: HEAD points to elsewhere, but the default branch is main.`;

  for (const lose of [() => emptied('HEAD'), () => rm(path.join(repository.path, 'HEAD'))]) {
    await lose();
    const [finding, ...rest] = await findingsIn(world);
    assert.equal(
      finding!.sentence,
      `${full_path}: its file HEAD is missing or damaged, so the repository cannot be read.`,
    );
    assert.deepEqual(
      rest.map(({ sentence }) => sentence),
      [ofOther],
    );
    assert.match((await finding!.repair?.())!, /^HEAD now points to main\./);
    assert.equal(await headBranch(repository), 'main');
  }

  await emptied('refs/heads/main');
  const lost = `${full_path}: the branch main is missing; the last push left it at ${head}. \`check --recover\` brings it back.`;
  const found = await findingsIn(world);
  assert.ok(
    found.some(({ sentence }) => sentence === lost),
    found.map(({ sentence }) => sentence).join('\n'),
  );
  assert.ok(found.some(({ sentence }) => sentence === ofOther));
  for (const { recover } of found) await recover?.();
  assert.equal(await resolveBranch(repository, 'main'), head);

  const [object] = (await objectFiles(repository)).filter((name) => name === `${head.slice(0, 2)}/${head.slice(2)}`);
  const [kept, away] = [path.join(repository.path, 'objects', object!), path.join(repository.path, 'away')];
  await emptied('refs/heads/main');
  await rename(kept, away);
  const gone = await findingsIn(world);
  const unrecoverable = `${full_path}: the branch main is missing, and so is ${head}, where the last push left it. Restore it from a backup.`;
  assert.equal(gone.find(({ sentence }) => sentence === unrecoverable)?.recover, undefined);
  await rename(away, kept);

  await writeFile(path.join(repository.path, 'packed-refs'), 'nonsense\n');
  const unreadable = await sentences(world);
  assert.ok(
    unreadable.some((sentence) => sentence.startsWith(`${full_path}: the repository is damaged: `)),
    unreadable.join('\n'),
  );
  assert.ok(unreadable.includes(ofOther));
  await sql`delete from projects where id in (${project.id}, ${other.body.id})`.execute(db);
});

test('a repository without its settings is reported, and gets those of a new one', async () => {
  const world = await onlyWorld();
  const config = path.join(repositoryIn(world).path, 'config');
  const before = await readFile(config, 'utf8');
  for (const lose of [() => writeFile(config, ''), () => rm(config)]) {
    await lose();
    const [finding, ...rest] = await findingsIn(world);
    assert.equal(
      finding!.sentence,
      `${world.project.full_path}: its file config is missing or empty, so the repository cannot be read.`,
    );
    assert.deepEqual(rest, []);
    assert.match((await finding!.repair?.())!, /^It has the settings of a new repository now\./);
    assert.equal(await readFile(config, 'utf8'), before);
    assert.deepEqual(await sentences(world), []);
  }
});

test('a blob that does not match its digest is reported', async () => {
  const world = await onlyWorld();
  const content = 'a large file';
  const oid = createHash('sha256').update(content).digest('hex');
  const file = blobsOf(configOf(world)).placeOf(`lfs/${oid}`);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
  const { id } = await world.db
    .insertInto('lfs_objects')
    .values({ oid, size: content.length })
    .returning('id')
    .executeTakeFirstOrThrow();
  await world.db
    .insertInto('lfs_objects_projects')
    .values({ project_id: world.project.id, lfs_object_id: id })
    .execute();
  assert.deepEqual(await sentences(world), []);
  await writeFile(file, 'A large file');
  assert.deepEqual(await sentences(world), [`${file} is damaged: its content does not match its name.`]);
  await rm(file);
  assert.deepEqual(await sentences(world), [
    `${world.project.full_path}: the LFS object ${oid} is missing. Push it again from a clone that has it.`,
  ]);
});

test('an encrypted token that cannot be decrypted is reported, and others are not', async () => {
  const world = await onlyWorld();
  const add = async (name: string) => {
    const platform_kubernetes_attributes = { api_url: 'https://kube.example.com', token: `token of ${name}` };
    const answer = await world.as('admin').post('/admin/clusters/add', {
      name,
      environment_scope: name,
      platform_kubernetes_attributes,
    });
    assert.equal(answer.status, 201);
    return answer.body.id as number;
  };
  const damaged = await add('damaged');
  await add('sound');
  const { token } = await world.db
    .selectFrom('clusters')
    .select('token')
    .where('id', '=', damaged)
    .executeTakeFirstOrThrow();
  token[token.length - 1]! ^= 1;
  await world.db.updateTable('clusters').set({ token }).where('id', '=', damaged).execute();
  assert.deepEqual(
    (await sentences(world)).filter((sentence) => sentence.startsWith('Cluster')),
    [
      `Cluster ${damaged} (damaged): its token cannot be decrypted. Set it again: PUT /api/v4/admin/clusters/${damaged}.`,
    ],
  );
  await world.db.deleteFrom('clusters').execute();
});

test('uploads whose file is damaged or missing are reported, and files of no upload are set aside', async () => {
  const world = await onlyWorld();
  const { db, project } = world;
  const place = `/projects/${project.id}`;
  const ids: number[] = [];
  for (const name of ['a.txt', 'b.txt', 'c.txt', 'd.txt'])
    ids.push((await upload(world, 'guest', place, name)).body.id);
  const ofUploads = async () => (await sentences(world)).filter((sentence) => sentence.includes('/uploads/')).sort();
  assert.deepEqual(await ofUploads(), []);
  const rows = await db
    .selectFrom('uploads')
    .select(['id', 'filename', 'blob_key'])
    .where('id', 'in', ids)
    .orderBy('id')
    .execute();
  const blobs = blobsOf(configOf(world));
  const files = rows.map(({ blob_key }) => blobs.placeOf(blob_key as BlobKey));
  await writeFile(files[0]!, 'CONTENT');
  await writeFile(files[1]!, 'more content');
  await rm(files[2]!);
  await db.deleteFrom('uploads').where('id', '=', rows[3]!.id).execute();
  await utimes(files[3]!, longAgo, longAgo);
  const of = (index: number) => `${project.full_path}: the file ${files[index]} of the upload ${rows[index]!.filename}`;
  const reported = [
    `${of(0)} is damaged: its content has changed.`,
    `${of(1)} has 12 bytes instead of 7.`,
    `${of(2)} is missing. Restore it from a backup.`,
  ].sort();
  assert.deepEqual(await ofUploads(), reported, 'a job deletes what is recorded as unused');
  await db.deleteFrom('unused_blobs').execute();
  assert.ok((await ofUploads()).includes(`${files[3]} belongs to no upload.`));
  await repairAll(world);
  assert.deepEqual(await ofUploads(), reported);
  await db.deleteFrom('uploads').where('id', 'in', ids).execute();
  await db.deleteFrom('unused_blobs').execute();
  await rm(path.join(blobs.address, 'uploads'), { recursive: true });
});

test('an avatar whose file is missing is reported, and a file that is no avatar is set aside', async () => {
  const world = await onlyWorld();
  const { db, people, as } = world;
  const blobs = blobsOf(configOf(world));
  const ofAvatars = async () => (await sentences(world)).filter((sentence) => sentence.includes('avatar'));
  const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(20)]);
  const form = new FormData();
  form.append('avatar', new Blob([picture]), 'face.png');
  assert.equal((await as('guest').put('/user/avatar', {}, { raw: form })).status, 200);
  assert.deepEqual(await ofAvatars(), []);
  const { avatar_key } = await db
    .selectFrom('users')
    .select('avatar_key')
    .where('id', '=', people.guest.id)
    .executeTakeFirstOrThrow();
  const file = blobs.placeOf(avatar_key as BlobKey);
  await rename(file, `${file.slice(0, -1)}x`);
  await utimes(`${file.slice(0, -1)}x`, longAgo, longAgo);
  assert.deepEqual(await ofAvatars(), [
    `The file ${file} of an avatar is missing. Restore it from a backup, or set the avatar again.`,
    `${file.slice(0, -1)}x belongs to no avatar.`,
  ]);
  await db.updateTable('users').set({ avatar: null, avatar_key: null }).where('id', '=', people.guest.id).execute();
  await repairAll(world);
  assert.deepEqual(await ofAvatars(), []);
});

test('repositories of snippets are compared with their rows, and what was lost is brought back', async () => {
  const world = await onlyWorld();
  const { db, project, services, as } = world;
  const files = [{ file_path: 'a.txt', content: 'apples' }];
  const { body } = await as('maintainer').post(`/projects/${project.id}/snippets`, { title: 'Fruit', files });
  const { body: personal } = await as('maintainer').post('/snippets', { title: 'Mine', files });
  const [repository, other] = [body.id, personal.id].map((id: number) =>
    repositoryOf(services, { id, storage: 'default', folder: '@snippets' }),
  ) as [Repository, Repository];
  const name = `${project.full_path}/snippets/${body.id}`;
  const ofSnippets = async () => (await sentences(world)).filter((sentence) => sentence.includes('snippets/'));
  assert.deepEqual(await ofSnippets(), []);

  const { commit_id } = await db
    .selectFrom('snippets')
    .select('commit_id')
    .where('id', '=', body.id)
    .executeTakeFirstOrThrow();
  await updateRefs(repository, [{ ref: 'refs/heads/main', old: commit_id, new: null }]);
  await setHead(other, 'elsewhere');
  const orphan = path.join(services.storages.default!, '@snippets/ab/cd/abcd.git');
  await mkdir(orphan, { recursive: true });
  await utimes(orphan, longAgo, longAgo);
  assert.deepEqual((await ofSnippets()).sort(), [
    `${orphan} belongs to no snippet.`,
    `${name}: the branch main is missing; the last push left it at ${commit_id}. \`check --recover\` brings it back.`,
    `snippets/${personal.id}: HEAD points to elsewhere, but the default branch is main.`,
  ]);
  await repairAll(world);
  for (const { recover } of await findingsIn(world)) await recover?.();
  assert.deepEqual(await ofSnippets(), []);
  assert.equal(await resolveBranch(repository, 'main'), commit_id);

  await db
    .updateTable('snippets')
    .set({ paths: ['b.txt'] })
    .where('id', '=', body.id)
    .execute();
  assert.deepEqual(await ofSnippets(), [`${name}: the database lists other files than the repository has.`]);
  await db
    .updateTable('snippets')
    .set({ paths: ['a.txt'] })
    .where('id', '=', body.id)
    .execute();
  await rm(other.path, { recursive: true });
  assert.deepEqual(await ofSnippets(), [
    `snippets/${personal.id}: there is no repository at ${other.path}. Restore it from a backup.`,
  ]);
});

test('a second copy of a repository on another storage is set aside, unless a move knows of it', async (t) => {
  const world = await onlyWorld();
  const { db, project } = world;
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-second-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const config = { ...configOf(world), storages: [...configOf(world).storages, { name: 'second', path: folder }] };
  const copy = path.join(folder, `${diskPath(project.id)}.git`);
  await cp(repositoryIn(world).path, copy, { recursive: true });
  const found = async () => {
    const findings = await Array.fromAsync(check({ db, config, signal: new AbortController().signal }));
    return findings.filter(({ sentence }) => sentence.startsWith(copy));
  };
  const [finding] = await found();
  assert.equal(finding?.sentence, `${copy} is a second copy of ${project.full_path}, which is on the storage default.`);
  const record = { kind: 'project', id: project.id, storage: 'second', due_at: 'infinity' };
  await db.insertInto('unused_repositories').values(record).execute();
  assert.deepEqual(await found(), []);
  await db.deleteFrom('unused_repositories').where('id', '=', project.id).execute();
  await finding.repair!();
  assert.deepEqual(await found(), []);
  assert.ok(!existsSync(copy) && existsSync(repositoryIn(world).path));
});

test('repositories of wikis are compared with their rows, and what was lost is brought back', async (t) => {
  const world = await onlyWorld();
  const { db, project, group, services, as } = world;
  for (const place of [`/projects/${project.id}`, `/groups/${group.id}`])
    assert.equal((await as('maintainer').post(`${place}/wikis`, { title: 'Home', content: 'Apples' })).status, 201);
  const wikis = await db.selectFrom('wikis').select(['id', 'storage']).orderBy('project_id').execute();
  const [ofProject, ofGroup] = wikis.map((wiki) => repositoryOf(services, { ...wiki, folder: '@wikis' })) as [
    Repository,
    Repository,
  ];
  const [name, nameOfGroup] = [`${project.full_path}.wiki`, `${group.full_path}.wiki`];
  const ofWikis = async () => (await sentences(world)).filter((sentence) => sentence.includes('wiki')).sort();
  assert.deepEqual(await ofWikis(), []);

  const head = (await resolveBranch(ofProject, 'main'))!;
  await updateRefs(ofProject, [{ ref: 'refs/heads/main', old: head, new: null }]);
  await setHead(ofGroup, 'elsewhere');
  const orphan = path.join(services.storages.default!, '@wikis/ab/cd/abcd.git');
  await mkdir(orphan, { recursive: true });
  await utimes(orphan, longAgo, longAgo);
  const expected = [
    `${orphan} belongs to no wiki.`,
    `${nameOfGroup}: HEAD points to elsewhere, but the default branch is main.`,
    `${name}: the branch main is missing; the last push left it at ${head}. \`check --recover\` brings it back.`,
  ];
  assert.deepEqual(await ofWikis(), expected.sort());
  await repairAll(world);
  for (const { recover } of await findingsIn(world)) await recover?.();
  assert.deepEqual(await ofWikis(), []);
  assert.equal(await resolveBranch(ofProject, 'main'), head);

  await updateRefs(ofProject, [{ ref: 'refs/heads/draft', old: null, new: head }]);
  assert.deepEqual(await command(t, world, { text: { 'accept-refs': name } }), {
    code: 0,
    said: [`${name}: the branch draft is recorded at ${head}; it was not recorded before.`],
  });

  const [file] = await objectFiles(ofProject);
  await rm(path.join(ofProject.path, 'objects', file!));
  await rm(ofGroup.path, { recursive: true });
  const torn = await ofWikis();
  assert.ok(
    torn.some((sentence) => sentence.startsWith(`${name}: the repository is damaged: `)),
    torn.join('\n'),
  );
  assert.ok(
    torn.includes(`${nameOfGroup}: there is no repository at ${ofGroup.path}. Restore it from a backup.`),
    torn.join('\n'),
  );
});

test('commits of merge requests that are missing are found, and refs of those that do not exist are removed', async () => {
  const world = await onlyWorld();
  const { as, db, project } = world;
  await addBranch(world, 'topic');
  await addMergeRequest(world);
  assert.equal((await as('maintainer').put(`/projects/${project.id}/merge_requests/1/merge`)).status, 200);
  await performQueued(world.services, [prepareMergeRequest, concludeMerges]);
  const repository = repositoryIn(world);
  const head = (await resolveBranch(repository, 'main'))!;
  await setKeptRefs(repository, new Map([[mergeRequestRef(1, 'merge'), head]]));
  assert.deepEqual(await sentences(world), []);

  await setKeptRefs(repository, new Map([[mergeRequestRef(7, 'head'), head]]));
  const gone = 'f'.repeat(40);
  await db.updateTable('merge_requests').set({ merge_commit_sha: gone }).where('project_id', '=', project.id).execute();
  await db.updateTable('merge_request_versions').set({ start_commit_sha: gone }).execute();
  const path_of = project.full_path;
  const stray = `${path_of}: 1 ref is of merge requests that do not exist, for example refs/merge-requests/7/head.`;
  const missing = (what: string) =>
    `${path_of}: ${what} 1 commit that is not in the repository, for example ${gone} of !1. Restore it from a backup.`;
  const lost = [missing('versions of merge requests name'), missing('merge requests were merged with')];
  assert.deepEqual(await sentences(world), [...lost, stray]);
  assert.deepEqual(await repairAll(world), ['They are removed; the commits stay.']);
  assert.deepEqual(await sentences(world), lost);
});
