/** What must be there, and what must not, after processes were killed. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { sql } from 'kysely';
import { removeUnused, settleReferenceUpdates } from '../../src/areas/code/repository/index.ts';
import { wikiRepositories } from '../../src/areas/code/wikis/index.ts';
import { areaServices } from '../../src/areas/index.ts';
import { readConfig } from '../../src/config.ts';
import { startEmbedded } from '../../src/db/embedded.ts';
import { connect, type Database } from '../../src/db/index.ts';
import { repositoryOf, staleLocks } from '../../src/git/index.ts';
import { showPresence } from '../../src/jobs/alive.ts';
import { type JobServices, servicesFor } from '../../src/services/index.ts';
import type { Client } from '../support/client.ts';
import type { GitClient } from '../support/git.ts';
import type { ServerEnvironment } from '../support/instance.ts';
import { performJob } from '../support/jobs.ts';
import { inspectAuditEvents } from './audit_events.ts';
import { inspectMerges } from './merges.ts';
import { inspectPipelines, type Workshop } from './pipelines.ts';
import { exportsEnded, inspectExports } from './relation_exports.ts';
import { inspectMoves, movesEnded } from './storage_moves.ts';
import { inspectPages } from './wikis.ts';
import type { Memory, Project } from './writers.ts';

/** Who looks, and at which server. */
interface Inspection {
  environment: ServerEnvironment;
  api: Client;
  git: GitClient;
  /** The one that is written to. */
  project: Project;
  /** The one in which branches are merged. */
  merging: Project;
  workshop: Workshop;
  memory: Memory;
}

async function gitIn(git: GitClient, repository: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await git.run(['-C', repository, ...args]);
  assert.equal(code, 0, `git ${args.join(' ')} in ${repository}: ${stderr}`);
  return stdout.trimEnd();
}

const linesOf = (text: string) => (text === '' ? [] : text.split('\n'));

/** Each write created a commit with its file, or left no trace; every confirmed write is there. */
async function inspectFiles(git: GitClient, repository: string, { files }: Memory): Promise<void> {
  const listed = linesOf(await gitIn(git, repository, 'ls-tree', '-r', 'main')).filter(
    (line) => !line.endsWith('\tREADME.md'),
  );
  const found = new Map(listed.map((line) => [line.slice(line.indexOf('\t') + 1), line.split(/\s/)[2]!]));
  for (const [name, { blob, fate }] of files) {
    const stored = found.get(name);
    if (fate === 'done') assert.equal(stored, blob, name);
    else if (stored !== undefined) assert.deepEqual([fate, stored], ['unknown', blob], name);
  }
  const commits = Number(await gitIn(git, repository, 'rev-list', '--count', 'main'));
  assert.equal(commits, found.size + 1, 'every commit has its file, and the first one the README');
}

async function inspectPushes({ api, git, project, memory: { pushes } }: Inspection, repository: string): Promise<void> {
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
async function inspectProjects(api: Client, db: Database, { projects }: Memory): Promise<void> {
  for (const [name, { fate, id, deletion }] of projects) {
    const row = await db
      .selectFrom('projects')
      .select(['id', 'path', 'marked_for_deletion_at'])
      .where((is) => is.or([is('path', '=', name), is('path', 'like', `${name}-deletion\\_scheduled-%`)]))
      .executeTakeFirst();
    if (fate === 'done') assert.equal(row?.id, id, name);
    if (!row) continue;
    assert.equal(row.path === name, row.marked_for_deletion_at === null, 'a marked project has given up its path');
    if (deletion === 'done') assert.notEqual(row.marked_for_deletion_at, null, name);
    if (deletion === undefined) assert.equal(row.marked_for_deletion_at, null, name);
    const { status, body } = await api.get(`/projects/${row.id}/repository/tree`);
    assert.deepEqual([status, body.map((entry: { name: string }) => entry.name)], [200, ['README.md']], name);
  }
}

/** Until every job has ended, or failed for good: another worker finds those of a killed server, which seem to be dead for a while. */
async function jobsEnded(connectionString: string, db: Database): Promise<void> {
  for (;;) {
    await sql`update graphile_worker._private_jobs set run_at = now(), locked_at = locked_at - interval '1 minute' where locked_at is not null or run_at > now()`.execute(
      db,
    );
    const { rows } =
      await sql`select from graphile_worker._private_jobs where attempts < max_attempts or locked_at is not null`.execute(
        db,
      );
    if (rows.length === 0) return;
    const worker = await showPresence({
      connectionString,
      worker: 'of the test',
      facts: { hostname: 'localhost', pid: process.pid, concurrency: 0, jobs: [] },
      takeRuns: () => ({ processed: 0, failed: 0 }),
      returnRuns: () => {},
      running: () => [],
      onError: () => {},
    });
    await worker.end();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Rows and repository exist together or are deleted together; after a confirmed deletion both are gone. */
async function inspectRemovals(services: JobServices, { removals }: Memory): Promise<void> {
  const { db } = services;
  for (const { project_id, group_id, fate } of removals) {
    const project = await db.selectFrom('projects').select('id').where('id', '=', project_id).executeTakeFirst();
    const group = await db
      .selectFrom('namespaces')
      .select('id')
      .where('id', '=', group_id ?? 0)
      .executeTakeFirst();
    const { path: folder } = repositoryOf(services, { id: project_id, storage: 'default' });
    assert.equal(existsSync(folder), project !== undefined, `${folder} and the row of its project`);
    if (group_id !== undefined)
      assert.equal(group === undefined, project === undefined, `group ${group_id} and its project`);
    if (fate === 'done') assert.equal(project, undefined, `project ${project_id}`);
  }
}

/** Every event that was answered with success is there once, and each error counts those that are there. The jobs have ended. */
async function inspectEvents(db: Database, { events }: Memory): Promise<void> {
  const done = [...events].flatMap(([id, fate]) => (fate === 'done' ? [id] : []));
  const { rows } = await sql`
    select count(*)::integer as stored, count(distinct event_id)::integer as different, count(*) filter (where error_id is null)::integer as waiting
      from error_tracking_events where event_id = any(${done}::uuid[])`.execute(db);
  assert.deepEqual(rows, [{ stored: done.length, different: done.length, waiting: 0 }]);
  const { rows: miscounted } = await sql`
    select id, events_count, users_count from error_tracking_errors errors
     where events_count <> (select count(*) from error_tracking_events events where events.error_id = errors.id)
        or users_count <> (select count(distinct user_hash) from error_tracking_events events where events.error_id = errors.id)`.execute(
    db,
  );
  assert.deepEqual(miscounted, []);
}

/** Ages abandoned moves by a quarter of an hour, when no job moves anything any more, and lets the jobs end that follow from them. */
async function settle(services: JobServices, connectionString: string): Promise<void> {
  const { db } = services;
  await jobsEnded(connectionString, db);
  await db.updateTable('reference_updates').set({ created_at: '2020-01-01T00:00:00Z' }).execute();
  await settleReferenceUpdates(services);
  await movesEnded(services, () => jobsEnded(connectionString, db));
  await exportsEnded(services, () => jobsEnded(connectionString, db));
  // What a move could not remove, because another run of it was still writing.
  await performJob(services, removeUnused);
  assert.deepEqual(await db.selectFrom('reference_updates').selectAll().execute(), []);
}

/** No lock is left on any ref. What the server packs after git has listed it, and before git reads it, is missed once. */
async function inspectRepositories(git: GitClient, services: JobServices): Promise<void> {
  const { db } = services;
  const projects = await db.selectFrom('projects').select(['id', 'storage']).execute();
  const wikis = await db.selectFrom('wikis').select(['id', 'storage']).execute();
  for (const place of [...projects, ...wikis.map((wiki) => ({ ...wiki, folder: wikiRepositories.folder }))]) {
    const repository = repositoryOf(services, place);
    assert.deepEqual(await staleLocks(repository, new Date()), []);
    const fsck = () => gitIn(git, repository.path, 'fsck', '--strict', '--no-dangling', '--no-progress');
    await fsck().catch(fsck);
  }
}

/** Looks at everything that was tried so far; moves that were abandoned are settled before, as they are after a quarter of an hour. */
export async function inspect(inspection: Inspection): Promise<void> {
  const { environment, api, git, project, merging, workshop, memory } = inspection;
  const { connectionString, stop } = await startEmbedded(environment.COPPICE_DATA, { use: 'shared' });
  const db = connect({ connectionString, max: 2 });
  const services = servicesFor(readConfig(environment), db, areaServices);
  try {
    await settle(services, connectionString);
    const row = db.selectFrom('projects').select(['id', 'storage']).where('id', '=', project.id);
    const repository = repositoryOf(services, await row.executeTakeFirstOrThrow()).path;
    await inspectFiles(git, repository, memory);
    await inspectPushes(inspection, repository);
    await inspectProjects(api, db, memory);
    await inspectRemovals(services, memory);
    await inspectMerges(services, merging, memory);
    await inspectPages(api, services, memory);
    await inspectEvents(db, memory);
    await inspectPipelines(api, services, workshop, memory, () => jobsEnded(connectionString, db));
    await inspectRepositories(git, services);
    await inspectMoves(services);
    await inspectExports(services);
    await inspectAuditEvents(db, project, memory);
  } finally {
    await db.destroy();
    await stop();
  }
}
