import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob, performQueued } from '../../../../../test/support/jobs.ts';
import { addBranch, addFork, addMergeRequest, worldWithTopic } from '../../../../../test/support/merge_requests.ts';
import { setRule } from '../../../../../test/support/pushing.ts';
import { fileUrl, headOf, onMain, repositoryIn } from '../../../../../test/support/repository.ts';
import type { Persona, World } from '../../../../../test/support/world.ts';
import {
  allRefs,
  GitError,
  git,
  isAncestor,
  keepAroundRef,
  readCommit,
  repositoryOf,
  updateRefs,
} from '../../../../git/index.ts';
import { removeLeftLocks, settleReferenceUpdates } from '../../../code/repository/index.ts';
import { followMergeRequests, prepareMergeRequest } from '../versions/jobs.ts';
import { closeOrphans } from '../versions/orphan_jobs.ts';
import { concludeMerges, keepMerged, mergeReady } from './jobs.ts';
import { rebaseSource } from './rebase_jobs.ts';

const jobs = [prepareMergeRequest, followMergeRequests, concludeMerges, keepMerged, mergeReady, rebaseSource];
const urlOf = ({ project }: World, iid = 1) => `/projects/${project.id}/merge_requests/${iid}`;
const merge = (here: World, iid = 1, parameters = {}, by: Persona = 'maintainer') =>
  here.as(by).put(`${urlOf(here, iid)}/merge`, parameters);
const shown = async (here: World, iid = 1) => (await here.as('maintainer').get(urlOf(here, iid))).body;
const commitOf = (here: World, id: string | undefined) => readCommit(repositoryIn(here), id!);
const set = async (here: World, settings: Record<string, unknown>) =>
  assert.equal((await here.as('maintainer').put(`/projects/${here.project.id}`, settings)).status, 200);

async function change(here: World, branch: string, file: string, content = 'x\n', commit_message = `Add ${file}`) {
  const made = await here
    .as('maintainer')
    .post(fileUrl(here.project, file), { ...onMain, branch, content, commit_message });
  assert.equal(made.status, 201, JSON.stringify(made.body));
}

/** A merge request of a branch of its own. */
async function proposal(here: World, branch: string, parameters = {}): Promise<number> {
  await addBranch(here, branch);
  return (await addMergeRequest(here, { source_branch: branch, title: `Add ${branch}`, ...parameters })).iid;
}

test('a merge creates a merge commit, closes issues, removes the source branch and is recorded once', async () => {
  const here = await worldWithTopic();
  const { as, project, people } = here;
  for (const title of ['one', 'two', 'three', 'four'])
    await as('reporter').post(`/projects/${project.id}/issues`, { title });
  await change(here, 'topic', 'more.txt', 'x\n', 'Sow more\n\nFixes #2');
  await addMergeRequest(here, { description: 'Closes #1, see #3', remove_source_branch: true });
  await change(here, 'main', 'elsewhere.txt');
  const [head, before] = [(await headOf(here, 'topic'))!, (await headOf(here))!];
  const merged = await merge(here, 1, { sha: head });
  assert.equal(merged.status, 200, JSON.stringify(merged.body));
  const after = (await headOf(here))!;
  const { body } = merged;
  assert.deepEqual(
    [
      body.state,
      body.merge_commit_sha,
      body.squash_commit_sha,
      body.sha,
      body.merge_user.id,
      body.detailed_merge_status,
    ],
    ['merged', after, null, head, people.maintainer.id, 'not_open'],
  );
  const commit = await commitOf(here, after);
  assert.deepEqual(commit.parent_ids, [before, head]);
  assert.equal(
    commit.message,
    `Merge branch 'topic' into 'main'\n\nSow the beans\n\nSee merge request ${project.full_path}!1`,
  );
  assert.equal(commit.author_name, people.maintainer.username.replaceAll('-', ' '));
  const files = await git(repositoryIn(here), 'ls-tree', ['--name-only'], [after]);
  assert.equal(files.toString(), 'README.md\nelsewhere.txt\nmore.txt\ntopic.txt\n');

  for (const _ of [1, 2]) {
    await performQueued(here.services, jobs);
    await concludeMerges.enqueue(here.db, { merge_request_id: body.id });
  }
  const issues = await as('reporter').get(`/projects/${project.id}/issues`, { sort: 'asc' });
  assert.deepEqual(
    issues.body.map(({ state }: { state: string }) => state),
    ['closed', 'closed', 'opened', 'opened'],
  );
  assert.equal(await headOf(here, 'topic'), undefined);
  const ofIt = (table: 'events' | 'resource_state_events', column: 'action' | 'state') =>
    sql<{ said: string }>`
      select ${sql.ref(column)} as said from ${sql.table(table)}
       where ${table === 'events' ? sql`target_type = 'MergeRequest' and target_id = ${body.id}` : sql`merge_request_id = ${body.id}`} order by id`.execute(
      here.db,
    );
  assert.deepEqual((await ofIt('events', 'action')).rows, [{ said: 'created' }, { said: 'merged' }]);
  assert.deepEqual((await ofIt('resource_state_events', 'state')).rows, [{ said: 'merged' }]);
  assert.equal((await as('reporter').get(`${urlOf(here)}/commits`)).body.length, 2, 'it shows what was merged');
  assert.equal((await merge(here)).status, 405, 'once');
});

test('a merge keeps the source branch unless its removal was requested, whatever the project setting', async () => {
  const here = await worldWithTopic();
  const { project } = here;
  assert.equal(
    (await here.as('maintainer').get(`/projects/${project.id}`)).body.remove_source_branch_after_merge,
    true,
  );
  await addMergeRequest(here);
  const refused = await proposal(here, 'refused', { remove_source_branch: false });
  const asked = await proposal(here, 'asked');
  await here.as('developer').put(urlOf(here, asked), { remove_source_branch: true });
  const atLast = await proposal(here, 'at-last');
  const all = [1, refused, asked, atLast];
  const said = await Promise.all(all.map(async (iid) => (await shown(here, iid)).force_remove_source_branch));
  assert.deepEqual(said, [null, false, true, null]);
  for (const iid of all)
    assert.equal((await merge(here, iid, iid === atLast ? { should_remove_source_branch: true } : {})).status, 200);
  await performQueued(here.services, jobs);
  const heads = await Promise.all(['topic', 'refused', 'asked', 'at-last'].map((branch) => headOf(here, branch)));
  assert.deepEqual(
    heads.map((head) => head !== undefined),
    [true, true, false, false],
  );
});

test('blank messages of merge and squash commits count as omitted', async () => {
  const here = await worldWithTopic();
  await change(here, 'topic', 'more.txt');
  await addMergeRequest(here);
  const blank = { squash: true, merge_commit_message: '   ', squash_commit_message: ' \n' };
  const { body } = await merge(here, 1, blank);
  assert.match((await commitOf(here, body.merge_commit_sha)).message, /^Merge branch 'topic' into 'main'\n/);
  assert.equal((await commitOf(here, body.squash_commit_sha)).message, 'Sow the beans');
});

test('merges that are not allowed are refused in the order of the reference, and nothing moves', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  await addMergeRequest(here, { title: 'Draft: Sow' });
  const conflicting = await proposal(here, 'clash');
  await change(here, 'main', 'clash.txt', 'other\n');
  const early = await proposal(here, 'early', { merge_after: '2999-01-01T00:00:00Z' });
  const plain = await proposal(here, 'plain');
  const before = await headOf(here);
  const received = async (answer: ReturnType<typeof merge>) => {
    const { status, body } = await answer;
    return [status, body.message];
  };
  assert.deepEqual(await received(merge(here, 99)), [404, '404 Not found']);
  assert.deepEqual(await received(merge(here, 1, {}, 'guest')), [404, '404 Not found']);
  assert.deepEqual(
    await received(merge(here, 1, {}, 'developer')),
    [401, '401 Unauthorized'],
    'the default branch is protected',
  );
  assert.deepEqual(await received(merge(here, 1)), [405, '405 Method Not Allowed']);
  assert.deepEqual(await received(merge(here, early)), [405, '405 Method Not Allowed']);
  assert.deepEqual(await received(merge(here, conflicting, { sha: 'f'.repeat(40) })), [422, 'Branch cannot be merged']);
  const head = await headOf(here, 'plain');
  const stale = await merge(here, plain, { sha: before });
  assert.deepEqual([stale.status, stale.body.message], [409, `SHA does not match HEAD of source branch: ${head}`]);
  await set(here, { only_allow_merge_if_pipeline_succeeds: true });
  assert.deepEqual(await received(merge(here, plain)), [405, '405 Method Not Allowed']);
  await set(here, { only_allow_merge_if_pipeline_succeeds: false });
  await setRule(here, { commit_message_regex: '^JIRA' });
  assert.deepEqual(await received(merge(here, plain)), [422, 'Branch cannot be merged']);
  assert.equal((await shown(here, plain)).merge_error, "Commit message does not follow the pattern '^JIRA'");
  assert.equal(await headOf(here), before);
  assert.deepEqual((await shown(here, plain)).state, 'opened');
  assert.equal(
    (await here.db.selectFrom('reference_updates').select('id').where('project_id', '=', project.id).execute()).length,
    0,
  );

  // Those who may merge into a protected branch need not be allowed to push to it.
  await as('owner').delete(`/projects/${project.id}/push_rule`);
  const url = `/projects/${project.id}/protected_branches`;
  await as('maintainer').delete(`${url}/main`);
  assert.equal(
    (await as('maintainer').post(url, { name: 'main', push_access_level: 0, merge_access_level: 30 })).status,
    201,
  );
  assert.equal((await merge(here, plain, {}, 'developer')).status, 200);
  assert.equal((await shown(here, plain)).merge_error, null);
});

test('commits are squashed, fast-forwarded and rebased as configured by the project and the caller', async () => {
  const here = await worldWithTopic();
  await change(here, 'topic', 'more.txt');
  await addMergeRequest(here, { squash: true });
  await change(here, 'main', 'first.txt');
  const base = (await commitOf(here, await headOf(here))).parent_ids[0];
  await set(here, { squash_commit_template: '%{title} (%{local_reference})\n\n%{all_commits}' });
  const one = (await merge(here)).body;
  const merged = await commitOf(here, await headOf(here));
  assert.deepEqual([one.merge_commit_sha, one.squash_commit_sha], [merged.id, merged.parent_ids[1]]);
  const squash = await commitOf(here, one.squash_commit_sha);
  assert.deepEqual(
    [squash.parent_ids, squash.message],
    [[base], 'Sow the beans (!1)\n\n* Change a file\n\n* Add more.txt'],
  );
  assert.equal(
    squash.author_name,
    here.people.developer.username.replaceAll('-', ' '),
    'the author of the merge request',
  );
  assert.equal(squash.committer_name, here.people.maintainer.username.replaceAll('-', ' '));

  await set(here, { merge_method: 'ff', squash_option: 'never', squash_commit_template: null });
  const two = await proposal(here, 'second');
  await change(here, 'main', 'other.txt');
  assert.equal((await merge(here, two)).status, 422);
  await performQueued(here.services, jobs);
  const old = await headOf(here, 'second');
  const rebased = await here.as('maintainer').put(`${urlOf(here, two)}/rebase`);
  assert.deepEqual([rebased.status, rebased.body], [202, { rebase_in_progress: true }]);
  assert.equal((await here.as('maintainer').put(`${urlOf(here, two)}/rebase`)).status, 409);
  const asked = { include_rebase_in_progress: true, include_diverged_commits_count: true };
  const additions = async () => {
    const { rebase_in_progress, diverged_commits_count } = (await here.as('reporter').get(urlOf(here, two), asked))
      .body;
    return [rebase_in_progress, diverged_commits_count];
  };
  assert.deepEqual(await additions(), [true, 1]);
  await performQueued(here.services, jobs);
  assert.deepEqual(await additions(), [false, 0]);
  assert.deepEqual(
    ['rebase_in_progress', 'diverged_commits_count', 'title_html'].filter((name) => name in one),
    [],
  );
  const head = (await headOf(here, 'second'))!;
  const commit = await commitOf(here, head);
  const original = await commitOf(here, old);
  assert.deepEqual(
    [commit.parent_ids, commit.message, commit.author_email, commit.authored_date],
    [[await headOf(here)], original.message, original.author_email, original.authored_date],
  );
  const ready = await shown(here, two);
  assert.deepEqual([ready.sha, ready.merge_error, ready.detailed_merge_status], [head, null, 'mergeable']);
  const fast = (await merge(here, two, { squash: true })).body;
  assert.deepEqual([await headOf(here), fast.merge_commit_sha, fast.squash_commit_sha], [head, null, null]);

  await set(here, { merge_method: 'rebase_merge', squash_option: 'always', merge_commit_template: 'Merge %{title}' });
  const three = await proposal(here, 'third');
  await change(here, 'third', 'fourth.txt');
  const before = await headOf(here);
  const semi = (await merge(here, three, { squash: false, squash_commit_message: 'All of it' })).body;
  const last = await commitOf(here, await headOf(here));
  assert.deepEqual(
    [last.id, last.message, last.parent_ids],
    [semi.merge_commit_sha, 'Merge Add third', [before, semi.squash_commit_sha]],
  );
  assert.deepEqual((await commitOf(here, semi.squash_commit_sha)).parent_ids, [before]);

  const clash = await proposal(here, 'clash');
  await change(here, 'main', 'clash.txt', 'other\n');
  const unchanged = await headOf(here, 'clash');
  assert.equal((await here.as('maintainer').put(`${urlOf(here, clash)}/rebase`)).status, 202);
  await performQueued(here.services, jobs);
  const failed = 'Rebase failed: Rebase locally, resolve all conflicts, then push the branch.';
  assert.deepEqual([(await shown(here, clash)).merge_error, await headOf(here, 'clash')], [failed, unchanged]);
  for (const [by, message] of [
    ['reporter', 'Cannot push to source branch'],
    ['guest', '404 Not found'],
  ] as const)
    assert.match((await here.as(by).put(`${urlOf(here, clash)}/rebase`)).body.message, new RegExp(message));
});

test('concurrent merges, and commits between them, all end up in the branch and in the records', async () => {
  const here = await worldWithTopic();
  const iids: number[] = [];
  for (const branch of ['a', 'b', 'c']) iids.push(await proposal(here, branch));
  const answers = await Promise.all([
    ...[...iids, ...iids].map((iid) => merge(here, iid)),
    ...['x', 'y'].map((name) =>
      here.as('maintainer').post(fileUrl(here.project, `${name}.txt`), { ...onMain, content: name }),
    ),
  ]);
  const statuses = answers.map(({ status }) => status);
  assert.deepEqual(statuses.slice(6), [201, 201]);
  assert.deepEqual(statuses.slice(0, 6).toSorted(), [200, 200, 200, 405, 405, 405], 'each is merged once');
  const head = (await headOf(here))!;
  for (const iid of iids) {
    const { state, merge_commit_sha } = await shown(here, iid);
    assert.equal(state, 'merged');
    assert.ok(await isAncestor(repositoryIn(here), merge_commit_sha, head));
  }
  const merges = await git(repositoryIn(here), 'rev-list', ['--count', '--merges'], [head]);
  assert.equal(merges.toString().trim(), '3');
  const files = (await git(repositoryIn(here), 'ls-tree', ['--name-only'], [head])).toString();
  assert.equal(files, 'README.md\na.txt\nb.txt\nc.txt\nx.txt\ny.txt\n');
});

test('after a crash during a merge, the branch and the record agree', async () => {
  const here = await worldWithTopic();
  const { db, project, people } = here;
  await addMergeRequest(here);
  const other = await proposal(here, 'other');
  /** What is there when a process dies after it has announced a merge, which only fast-forwards here. */
  const die = async (iid: number, branch: string) => {
    const update = { ref: 'refs/heads/main', old: (await headOf(here))!, new: (await headOf(here, branch))! };
    const locked = db
      .updateTable('merge_requests')
      .set({ state: 'locked' })
      .where('project_id', '=', project.id)
      .where('iid', '=', iid);
    const { id } = await locked.returning('id').executeTakeFirstOrThrow();
    const outcome = {
      head: update.new,
      merge_commit_sha: null,
      squash_commit_sha: null,
      should_remove_source_branch: null,
    };
    await db
      .insertInto('reference_updates')
      .values({
        project_id: project.id,
        user_id: people.maintainer.id,
        merge_request_id: id,
        updates: JSON.stringify([update]),
        merge: JSON.stringify(outcome),
        created_at: sql<string>`now() - interval '1 hour'`,
      })
      .execute();
    return update;
  };
  const lost = await proposal(here, 'lost');
  await die(lost, 'lost');
  // What the deletion of its fork leaves; merges are not interrupted by it.
  await db
    .updateTable('merge_requests')
    .set({ source_project_id: null })
    .where('project_id', '=', project.id)
    .where('iid', '=', lost)
    .execute();
  await performQueued(here.services, [closeOrphans]);
  assert.equal((await shown(here, lost)).state, 'locked');
  await settleReferenceUpdates(here.services);
  await performQueued(here.services, [closeOrphans]);
  assert.equal((await shown(here, lost)).state, 'closed');
  await die(other, 'other');
  assert.deepEqual([(await shown(here, other)).state, (await merge(here, other)).status], ['locked', 405]);
  await settleReferenceUpdates(here.services);
  const unmerged = await shown(here, other);
  assert.deepEqual(
    [unmerged.state, unmerged.merge_user, unmerged.detailed_merge_status],
    ['opened', null, 'mergeable'],
  );

  const update = await die(1, 'topic');
  await updateRefs(repositoryIn(here), [update]);
  assert.equal((await shown(here)).state, 'locked');
  await settleReferenceUpdates(here.services);
  await settleReferenceUpdates(here.services);
  await performQueued(here.services, jobs);
  const merged = await shown(here);
  assert.deepEqual([merged.state, merged.merge_user.id, merged.sha], ['merged', people.maintainer.id, update.new]);
  const events = db.selectFrom('events').select('id').where('target_id', '=', merged.id).where('action', '=', 'merged');
  assert.equal((await events.execute()).length, 1);
  assert.equal((await merge(here, other)).status, 200, 'and goes on');
  assert.deepEqual(
    await db.selectFrom('reference_updates').select('id').where('project_id', '=', project.id).execute(),
    [],
  );
});

/** What a git process leaves that is killed while it keeps the head of the source branch. */
async function leaveLock(here: World, minutes: number, head?: string): Promise<string> {
  const lock = path.join(repositoryIn(here).path, `${keepAroundRef(head ?? (await headOf(here, 'topic'))!)}.lock`);
  await mkdir(path.dirname(lock), { recursive: true });
  await writeFile(lock, '');
  const then = new Date(Date.now() - minutes * 60_000);
  await utimes(lock, then, then);
  return lock;
}

test('a lock left by a killed git process on the refs of a merge does not delay its other effects', async () => {
  const here = await worldWithTopic();
  const { db, project, services } = here;
  await here.as('reporter').post(`/projects/${project.id}/issues`, { title: 'Sow' });
  await addMergeRequest(here, { description: 'Closes #1', remove_source_branch: true });
  const head = (await headOf(here, 'topic'))!;
  assert.equal((await merge(here)).status, 200);
  const seconds = await sql<{ seconds: number }>`
    select sum(exp(least(10, attempt))) as seconds
      from graphile_worker._private_jobs jobs join graphile_worker._private_tasks tasks on tasks.id = jobs.task_id, generate_series(1, max_attempts - 1) attempt
     where identifier = 'conclude_merge'`.execute(db);
  assert.ok(seconds.rows[0]!.seconds > 20 * 60, 'it is tried for longer than a lock takes to become stale');

  const followed = async () => ({
    issue: (await here.as('reporter').get(`/projects/${project.id}/issues/1`)).body.state,
    branch: await headOf(here, 'topic'),
    kept: (await allRefs(repositoryIn(here))).get(keepAroundRef(head)),
  });
  const { id } = await shown(here);
  await leaveLock(here, 0);
  await performJob(services, concludeMerges, { merge_request_id: id });
  assert.deepEqual(await followed(), { issue: 'closed', branch: undefined, kept: undefined });
  await assert.rejects(performJob(services, keepMerged, { merge_request_id: id }), GitError);
  // Later it counts as left behind.
  await leaveLock(here, 11, head);
  await performQueued(services, jobs);
  assert.deepEqual(await followed(), { issue: 'closed', branch: undefined, kept: head });
});

test('a server that starts alone removes the locks left by its predecessor in every repository', async () => {
  const here = await worldWithTopic();
  const { services } = here;
  const { body } = await here
    .as('maintainer')
    .post('/snippets', { title: 'Beans', files: [{ file_path: 'a', content: 'b' }] });
  const snippet = repositoryOf(services, { id: body.id, storage: 'default', folder: '@snippets' });
  const locks = [await leaveLock(here, 1), path.join(snippet.path, 'HEAD.lock')];
  await writeFile(locks[1]!, '');
  await performJob(services, removeLeftLocks, { before: new Date(Date.now() - 5 * 60_000).toISOString() });
  assert.deepEqual(locks.map(existsSync), [true, true], 'a git process of this server may hold them');
  await performJob(services, removeLeftLocks, { before: new Date().toISOString() });
  assert.deepEqual(locks.map(existsSync), [false, false]);
});

test('an auto-merge happens when the commit statuses succeed, unless it is canceled or the branch moves', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  await set(here, { only_allow_merge_if_pipeline_succeeds: true });
  await addMergeRequest(here);
  await performQueued(here.services, jobs);
  const report = async (state: string) => {
    const answer = await as('developer').post(`/projects/${project.id}/statuses/${await headOf(here, 'topic')}`, {
      state,
    });
    assert.equal(answer.status, 201);
    return performQueued(here.services, jobs);
  };
  const waits = async () => (await shown(here)).merge_when_pipeline_succeeds;
  const cancel = (by: Persona) => as(by).post(`${urlOf(here)}/cancel_merge_when_pipeline_succeeds`);
  assert.deepEqual([(await cancel('maintainer')).status, (await cancel('reporter')).status], [406, 401]);
  const asked = await merge(here, 1, { merge_when_pipeline_succeeds: true });
  assert.deepEqual([asked.status, asked.body.state, asked.body.merge_when_pipeline_succeeds], [200, 'opened', true]);
  const canceled = await cancel('developer');
  assert.deepEqual([canceled.status, canceled.body, await waits()], [201, { status: 'success' }, false]);

  await merge(here, 1, { auto_merge: true });
  await change(here, 'topic', 'more.txt');
  await performQueued(here.services, jobs);
  assert.equal(await waits(), false);
  await merge(here, 1, { auto_merge: true, squash: true });
  await report('running');
  await report('failed');
  assert.deepEqual([(await shown(here)).state, await waits()], ['opened', true], 'another status may succeed');
  assert.deepEqual(await report('success'), ['merge_when_ready', 'conclude_merge', 'keep_merge']);
  const merged = await shown(here);
  assert.deepEqual(
    [merged.state, merged.merge_when_pipeline_succeeds, merged.merge_user.id],
    ['merged', false, here.people.maintainer.id],
  );
  assert.equal((await commitOf(here, merged.merge_commit_sha)).parent_ids[1], merged.squash_commit_sha);
  assert.equal((await cancel('maintainer')).status, 405);
  const notes = await here.db
    .selectFrom('notes')
    .select('body')
    .where('merge_request_id', '=', merged.id)
    .orderBy('id')
    .execute();
  assert.deepEqual(
    notes.map(({ body }) => body.replace(/[0-9a-f]{40}/, '<sha>').split('\n')[0]),
    [
      'enabled an automatic merge when all merge checks for <sha> pass',
      'canceled the automatic merge',
      'enabled an automatic merge when all merge checks for <sha> pass',
      'added 1 commit',
      'aborted the automatic merge because source branch was updated',
      'enabled an automatic merge when all merge checks for <sha> pass',
    ],
  );
  const later = await proposal(here, 'later');
  await set(here, { only_allow_merge_if_pipeline_succeeds: false });
  assert.equal((await merge(here, later, { auto_merge: true })).body.state, 'merged', 'with nothing to wait for');
});

test('a merge request from a fork is merged and rebased across both projects, and the merge can be tested', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  const fork = await addFork(here, 'developer');
  await addBranch(here, 'proposal', fork, 'developer');
  const asked = {
    title: 'From a fork',
    source_branch: 'proposal',
    target_branch: 'main',
    target_project_id: project.id,
  };
  assert.equal((await as('developer').post(`/projects/${fork.id}/merge_requests`, asked)).status, 201);
  const tried = await as('reporter').get(`${urlOf(here)}/merge_ref`);
  assert.equal(tried.status, 200);
  assert.deepEqual((await as('reporter').get(`${urlOf(here)}/merge_ref`)).body, tried.body);
  const ref = await git(
    repositoryIn(here),
    'for-each-ref',
    ['--format=%(objectname)'],
    ['refs/merge-requests/1/merge'],
  );
  assert.equal(ref.toString().trim(), tried.body.commit_id);
  await change(here, 'main', 'elsewhere.txt');
  assert.equal((await as('maintainer').put(`${urlOf(here)}/rebase`)).status, 403);
  assert.equal((await as('developer').put(`${urlOf(here)}/rebase`)).status, 202);
  await performQueued(here.services, jobs);
  const { sha, detailed_merge_status } = await shown(here);
  assert.deepEqual(
    [(await commitOf(here, sha)).parent_ids, detailed_merge_status],
    [[await headOf(here)], 'mergeable'],
  );
  assert.equal((await merge(here)).status, 200);
  assert.equal((await as('reporter').get(`${urlOf(here)}/merge_ref`)).body.message, 'Merge request is not mergeable');
  assert.ok(await isAncestor(repositoryIn(here), sha, (await headOf(here))!));
});
