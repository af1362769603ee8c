/**
 * Writing while the server and its database are killed, and looking what is left. CRASH_SEED repeats the order of what is killed and when, though not what
 * the machine does meanwhile.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { settleReferenceUpdates } from '../../src/areas/code/repository/index.ts';
import { readConfig } from '../../src/config.ts';
import { startEmbedded } from '../../src/db/embedded.ts';
import { connect, type Database } from '../../src/db/index.ts';
import { repositoryOf } from '../../src/git/index.ts';
import { showPresence } from '../../src/jobs/alive.ts';
import { servicesFor } from '../../src/services/index.ts';
import { ownAddress } from '../support/address.ts';
import { clientOf } from '../support/client.ts';
import { type GitClient, gitClient, remoteOf } from '../support/git.ts';
import { prepareData } from '../support/prepared_data.ts';
import { type Random, randomFrom } from '../support/random.ts';
import { coppice, type Instance, startInstance } from './instance.ts';
import {
  createProjects,
  emptyMemory,
  type Memory,
  type Project,
  push,
  type Round,
  removeForGood,
  writeFiles,
} from './writers.ts';

const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
const token = 'crash-token-for-one-run-only';
/** Files are written by so many at once, all to the same branch. */
const fileWriters = 3;
const pushers = 2;
/** The kill comes after so many successes, and a moment later. */
const mostSuccesses = 80;
const longestMoment_ms = 40;

type Victim = 'server' | 'database' | 'both';
const victims: readonly Victim[] = ['server', 'database', 'both'];

const data = await mkdtemp(path.join(tmpdir(), 'coppice-crash-'));
await prepareData(data);
const address = await ownAddress();
const environment = {
  COPPICE_DATA: data,
  COPPICE_URL: address.COPPICE_URL!,
  COPPICE_PORT: address.COPPICE_PORT!,
  COPPICE_ROOT_TOKEN: token,
  COPPICE_LOG_LEVEL: 'warn',
};
const api = clientOf(`${environment.COPPICE_URL}/api/v4`, token);
let instance: Instance | undefined;

after(async () => {
  await instance?.stop();
  await rm(data, { recursive: true, force: true });
});

/** Kills when enough was written; resolves when it is done. */
async function strike(victim: Victim, running: Instance, round: Round, random: Random): Promise<void> {
  const successes = 1 + random.below(mostSuccesses);
  const moment_ms = random.below(longestMoment_ms);
  await new Promise<void>((resolve) => {
    let count = 0;
    round.onSuccess = () => {
      if (++count === successes) resolve();
    };
  });
  await new Promise((resolve) => setTimeout(resolve, moment_ms));
  round.isOver = true;
  if (victim !== 'server') await running.killDatabase();
  if (victim !== 'database') await running.killServer();
}

async function gitIn(git: GitClient, repository: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await git.run(['-C', repository, ...args]);
  assert.equal(code, 0, `git ${args.join(' ')} in ${repository}: ${stderr}`);
  return stdout.trimEnd();
}

const linesOf = (text: string) => (text === '' ? [] : text.split('\n'));

/** Each write created a commit with its file, or left no trace; every confirmed write is there. */
async function inspectFiles(git: GitClient, repository: string, { files }: Memory): Promise<void> {
  const listed = linesOf(await gitIn(git, repository, 'ls-tree', '-r', 'main')).filter((line) => !line.endsWith('\tREADME.md'));
  const found = new Map(listed.map((line) => [line.slice(line.indexOf('\t') + 1), line.split(/\s/)[2]!]));
  for (const [name, { blob, fate }] of files) {
    const stored = found.get(name);
    if (fate === 'done') assert.equal(stored, blob, name);
    else if (stored !== undefined) assert.deepEqual([fate, stored], ['unknown', blob], name);
  }
  const commits = Number(await gitIn(git, repository, 'rev-list', '--count', 'main'));
  assert.equal(commits, found.size + 1, 'every commit has its file, and the first one the README');
}

async function inspectPushes(git: GitClient, repository: string, project: Project, { pushes }: Memory): Promise<void> {
  const listed = linesOf(
    await gitIn(git, repository, 'for-each-ref', '--format=%(refname:lstrip=2) %(objectname)', 'refs/heads'),
  );
  const heads = new Map(listed.map((line) => line.split(' ') as [string, string]));
  for (const [branch, state] of pushes) {
    const { answered, attempted } = state;
    const head = heads.get(branch);
    assert.ok(head === answered || head === attempted, `${branch} is at ${head}, neither ${answered} nor ${attempted}`);
    // The next push may be cut off before anything of it arrives.
    state.answered = head;
    if (head === undefined) continue;
    const { body } = await api.get(`/projects/${project.id}/repository/branches/${branch}`);
    assert.equal(body.commit.id, head);
  }
}

/** A project is there with its repository, or not at all. */
async function inspectProjects(db: Database, { projects }: Memory): Promise<void> {
  for (const [name, { fate, id, deletion }] of projects) {
    const row = await db
      .selectFrom('projects')
      .select(['id', 'marked_for_deletion_at'])
      .where('path', '=', name)
      .executeTakeFirst();
    if (fate === 'done') assert.equal(row?.id, id, name);
    if (!row) continue;
    if (deletion === 'done') assert.notEqual(row.marked_for_deletion_at, null, name);
    if (deletion === undefined) assert.equal(row.marked_for_deletion_at, null, name);
    const { status, body } = await api.get(`/projects/${row.id}/repository/tree`);
    assert.deepEqual([status, body.map((entry: { name: string }) => entry.name)], [200, ['README.md']], name);
  }
}

/** Until every job has ended, or failed for good: another worker finds those of a killed server, which seem to be dead for a while. */
async function jobsEnded(connectionString: string, db: Database): Promise<void> {
  for (;;) {
    await sql`update graphile_worker._private_jobs set locked_at = now() - interval '1 minute' where locked_at is not null`.execute(
      db,
    );
    const { rows } =
      await sql`select from graphile_worker._private_jobs where attempts < max_attempts or locked_at is not null`.execute(db);
    if (rows.length === 0) return;
    const worker = await showPresence({ connectionString, worker: 'of the test', running: () => [], onError: () => {} });
    await worker.end();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Rows and repository exist together or are deleted together; after a confirmed deletion both are gone. */
async function inspectRemovals(connectionString: string, db: Database, { removals }: Memory): Promise<void> {
  const services = servicesFor(readConfig(environment), db);
  await jobsEnded(connectionString, db);
  for (const { project_id, group_id, fate } of removals) {
    const project = await db.selectFrom('projects').select('id').where('id', '=', project_id).executeTakeFirst();
    const group = await db
      .selectFrom('namespaces')
      .select('id')
      .where('id', '=', group_id ?? 0)
      .executeTakeFirst();
    const { path: folder } = repositoryOf(services, { id: project_id, storage: 'default' });
    assert.equal(existsSync(folder), project !== undefined, `${folder} and the row of its project`);
    if (group_id !== undefined) assert.equal(group === undefined, project === undefined, `group ${group_id} and its project`);
    if (fate === 'done') assert.equal(project, undefined, `project ${project_id}`);
  }
}

/** Ages abandoned moves by a quarter of an hour. */
async function settle(db: Database): Promise<void> {
  await db.updateTable('reference_updates').set({ created_at: '2020-01-01T00:00:00Z' }).execute();
  await settleReferenceUpdates(servicesFor(readConfig(environment), db));
  assert.deepEqual(await db.selectFrom('reference_updates').selectAll().execute(), []);
}

async function inspectRepositories(git: GitClient, db: Database): Promise<void> {
  const services = servicesFor(readConfig(environment), db);
  for (const project of await db.selectFrom('projects').select(['id', 'storage']).execute())
    await gitIn(git, repositoryOf(services, project).path, 'fsck', '--strict', '--no-dangling', '--no-progress');
}

async function inspect(git: GitClient, project: Project, memory: Memory): Promise<void> {
  const { connectionString, stop } = await startEmbedded(data, { use: 'shared' });
  const db = connect({ connectionString, max: 2 });
  try {
    const repository = repositoryOf(servicesFor(readConfig(environment), db), { id: project.id, storage: 'default' }).path;
    await settle(db);
    await inspectFiles(git, repository, memory);
    await inspectPushes(git, repository, project, memory);
    await inspectProjects(db, memory);
    await inspectRemovals(connectionString, db, memory);
    await inspectRepositories(git, db);
  } finally {
    await db.destroy();
    await stop();
  }
}

/** What is there before anybody writes. */
interface Places {
  project: Project;
  attic: { id: number };
}

async function start(git: GitClient): Promise<Places> {
  instance = await startInstance(environment);
  const created = await api.post('/projects', { name: 'Written to', path: 'written-to', initialize_with_readme: true });
  assert.equal(created.status, 201);
  const attic = await api.post('/groups', { name: 'Attic', path: 'attic' });
  assert.equal(attic.status, 201);
  for (let pusher = 0; pusher < pushers; pusher++) {
    const remote = remoteOf(environment.COPPICE_URL, created.body.path_with_namespace, token);
    assert.equal((await git.run(['clone', '-q', remote, `clone-${pusher}`])).code, 0);
  }
  return { project: created.body, attic: attic.body };
}

const allWriters = (git: GitClient, { project, attic }: Places, round: Round, memory: Memory) => [
  ...Array.from({ length: fileWriters }, (_, writer) => writeFiles(api, project, writer, round, memory)),
  ...Array.from({ length: pushers }, (_, pusher) => push(git, `clone-${pusher}`, `pushed-${pusher}`, round, memory)),
  createProjects(api, round, memory),
  removeForGood(api, attic, round, memory),
];

test(`what was answered outlives every crash, and nothing is half there (CRASH_SEED=${seed})`, async (t) => {
  const random = randomFrom(seed);
  const git = await gitClient();
  const places = await start(git);
  const memory = emptyMemory();
  for (const [number, victim] of victims.entries()) {
    const round: Round = { number, isOver: false, onSuccess: () => {}, failures: [] };
    const running = instance!;
    const struck = strike(victim, running, round, random);
    await Promise.all([struck, ...allWriters(git, places, round, memory)]);
    if (round.failures.length > 0)
      assert.fail(`Writing failed before anything was killed:\n${round.failures.join('\n')}\n${running.said()}`);
    if (victim === 'database') await instance!.ready();
    else instance = await startInstance(environment);
    await inspect(git, places.project, memory);
    t.diagnostic(
      `killed the ${victim}: ${memory.files.size} files, ${memory.projects.size} projects, ${memory.removals.length} removals so far`,
    );
  }
  const { code, said } = await coppice('check', environment);
  assert.equal(code, 0, said);
  assert.equal((await api.post('/projects', { name: 'Afterwards', path: 'afterwards' })).status, 201);
});
