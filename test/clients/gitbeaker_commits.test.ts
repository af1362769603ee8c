/** The TypeScript client @gitbeaker/rest: commits of several files, picking and reverting, what changed, and what is said of a commit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientOf = ({ url }: World, token: string) => new Gitlab({ host: url, token });

/** The client of a maintainer, and a project that begins with a README. */
async function workplace() {
  const here = await world();
  const owner = clientOf(here, here.people.owner.token);
  const { id } = await owner.Projects.create({ name: 'Work', namespaceId: here.group.id, initializeWithReadme: true });
  const developer = clientOf(here, here.people.developer.token);
  return { id, here, owner, developer, ...clientOf(here, here.people.maintainer.token) };
}

type CommitFilter = Partial<
  Record<'path' | 'author' | 'refName' | 'order' | 'since' | 'until', string> & Record<'all' | 'firstParent', boolean>
>;

/** The paths of a branch with their modes. */
async function filesOf({ id, Repositories }: Awaited<ReturnType<typeof workplace>>, ref: string): Promise<string[]> {
  const entries = await Repositories.allRepositoryTrees(id, { ref, recursive: true, perPage: 2 });
  return entries.filter(({ type }) => type === 'blob').map(({ path, mode }) => `${mode} ${path}`);
}

test('one commit creates, updates, moves, chmods and deletes files', async () => {
  const work = await workplace();
  const { id, Commits, RepositoryFiles, Branches } = work;
  const base = (await Branches.show(id, 'main')).commit.id;
  const made = await Commits.create(
    id,
    'main',
    'Move in\n\nAll at once.',
    [
      { action: 'create', filePath: 'bin/run', content: '#!/bin/sh\n', execute_filemode: true },
      { action: 'create', filePath: 'ünï/ä b.txt', content: Buffer.from('ä\n').toString('base64'), encoding: 'base64' },
      { action: 'create', filePath: 'old', content: 'kept\n' },
      { action: 'move', filePath: 'new', previousPath: 'old' },
      { action: 'update', filePath: 'README.md', content: 'read\n' },
      { action: 'create', filePath: 'tool', content: '' },
      { action: 'chmod', filePath: 'tool', execute_filemode: true },
      { action: 'create', filePath: 'gone', content: '' },
      { action: 'delete', filePath: 'gone' },
    ],
    { authorName: 'Ada Lovelace', authorEmail: 'ada@example.com' },
  );
  assert.deepEqual(
    [made.title, made.message, made.author_name, made.author_email, made.parent_ids],
    ['Move in', 'Move in\n\nAll at once.', 'Ada Lovelace', 'ada@example.com', [base]],
  );
  assert.match(made.committer_name ?? '', /^maintainer/);
  assert.equal(made.short_id, made.id.slice(0, 8));
  assert.equal((await Branches.show(id, 'main')).commit.id, made.id);
  assert.deepEqual(await filesOf(work, 'main'), [
    '100644 README.md',
    '100755 bin/run',
    '100644 new',
    '100755 tool',
    '100644 ünï/ä b.txt',
  ]);
  assert.equal(await RepositoryFiles.showRaw(id, 'ünï/ä b.txt', 'main'), 'ä\n');
  assert.equal(await RepositoryFiles.showRaw(id, 'new', 'main'), 'kept\n');

  const refused = await refusal(
    Commits.create(id, 'main', 'No', [
      { action: 'create', filePath: 'fine', content: '' },
      { action: 'delete', filePath: 'not there' },
    ]),
  );
  assert.deepEqual([refused.status, refused.text], [400, "A file with this name doesn't exist"]);
  const stale = await refusal(
    Commits.create(id, 'main', 'No', [{ action: 'update', filePath: 'README.md', content: 'x', lastCommitId: base }]),
  );
  assert.deepEqual([stale.status, stale.text], [400, 'The file has changed since you started editing it: README.md']);
  assert.equal((await Branches.show(id, 'main')).commit.id, made.id);
});

test('a branch starts from a commit elsewhere, also in a fork, and restarts with force', async () => {
  const work = await workplace();
  const { id, Commits, Branches, developer, owner, here } = work;
  const base = (await Branches.show(id, 'main')).commit.id;
  const add = (filePath: string) => [{ action: 'create' as const, filePath, content: filePath }];
  const topic = await developer.Commits.create(id, 'topic', 'Begin', add('a'), { startBranch: 'main' });
  assert.deepEqual(topic.parent_ids, [base]);
  const there = await refusal(developer.Commits.create(id, 'topic', 'Again', add('b'), { startSha: base }));
  assert.match(there.text, /^A branch called 'topic' already exists\./);
  const restarted = await developer.Commits.create(id, 'topic', 'Again', add('b'), { startSha: base, force: true });
  assert.deepEqual(restarted.parent_ids, [base]);
  assert.deepEqual(await filesOf(work, 'topic'), ['100644 README.md', '100644 b']);
  const closed = await refusal(developer.Commits.create(id, 'main', 'No', add('c')));
  assert.deepEqual([closed.status, closed.text], [403, '403 Forbidden - You are not allowed to push into this branch']);

  const other = await owner.Projects.create({ name: 'Other', namespaceId: here.group.id, initializeWithReadme: true });
  const foreign = await refusal(
    Commits.create(id, 'theirs', 'x', add('d'), { startBranch: 'main', startProject: other.id }),
  );
  assert.equal(foreign.status, 403);
  assert.match(foreign.text, /Project is not included in the fork network for/);
});

test('a commit is cherry-picked and reverted, after a dry run', async () => {
  const { id, Commits, Branches, RepositoryFiles } = await workplace();
  const topic = await Commits.create(
    id,
    'topic',
    'Add a line',
    [{ action: 'create', filePath: 'line', content: 'one\n' }],
    {
      startBranch: 'main',
      authorName: 'Ada',
      authorEmail: 'ada@example.com',
    },
  );
  const base = (await Branches.show(id, 'main')).commit.id;
  const tried: object = await Commits.cherryPick(id, topic.id, 'main', { dryRun: true });
  assert.deepEqual(tried, { dry_run: 'success' });
  assert.equal((await Branches.show(id, 'main')).commit.id, base);
  const picked = await Commits.cherryPick(id, topic.id, 'main');
  assert.equal(picked.message, `Add a line\n\n(cherry picked from commit ${topic.id})`);
  assert.deepEqual([picked.author_name, picked.parent_ids], ['Ada', [base]]);
  assert.equal(await RepositoryFiles.showRaw(id, 'line', 'main'), 'one\n');
  const again = await refusal(Commits.cherryPick(id, topic.id, 'main'));
  assert.equal(again.status, 400);
  assert.match(again.text, /^Sorry, we cannot cherry-pick this commit automatically\./);

  const reverted = await Commits.revert(id, picked.id, 'main');
  assert.equal(reverted.message, `Revert "Add a line"\n\nThis reverts commit ${picked.id}`);
  assert.equal((await refusal(RepositoryFiles.show(id, 'line', 'main'))).status, 404);
  const nowhere = await refusal(Commits.revert(id, picked.id, 'nowhere'));
  assert.deepEqual([nowhere.status, nowhere.text], [404, '404 Branch Not Found']);
});

test('commits are filtered by path, author, time and branch, with their diffs', async () => {
  const { id, Commits } = await workplace();
  const [first] = await Commits.all(id);
  const change = (branch: string, filePath: string, authorName: string, more = {}) =>
    Commits.create(
      id,
      branch,
      `Write ${filePath}\n\nSigned-off-by: ${authorName} <x@example.com>\n`,
      [{ action: 'create', filePath, content: 'one\ntwo\n' }],
      { authorName, authorEmail: `${authorName}@example.com`, ...more },
    );
  const ada = await change('main', 'docs/ada', 'Ada');
  const grace = await change('main', 'grace', 'Grace');
  const side = await change('side', 'side', 'Ada', { startSha: ada.id });
  const idsOf = async (filter: CommitFilter) => (await Commits.all(id, filter)).map((commit) => commit.id);
  assert.deepEqual(await idsOf({}), [grace.id, ada.id, first!.id]);
  assert.deepEqual(await idsOf({ path: 'docs' }), [ada.id]);
  assert.deepEqual(await idsOf({ author: 'Grace' }), [grace.id]);
  assert.deepEqual((await idsOf({ all: true, author: 'Ada@example.com' })).toSorted(), [ada.id, side.id].toSorted());
  assert.deepEqual(await idsOf({ refName: 'side', order: 'topo', firstParent: true }), [side.id, ada.id, first!.id]);
  assert.deepEqual(await idsOf({ until: '2001-01-01T00:00:00Z' }), []);
  assert.equal((await idsOf({ since: '2001-01-01T00:00:00Z' })).length, 3);
  const [counted] = await Commits.all(id, { path: 'grace', withStats: true });
  assert.deepEqual(counted?.stats, { additions: 2, deletions: 0, total: 2 });
  const [signed] = await Commits.all(id, { path: 'grace', trailers: true });
  assert.deepEqual(signed?.trailers, { 'Signed-off-by': 'Grace <x@example.com>' });

  const [diff, ...others] = await Commits.showDiff(id, grace.id);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [diff?.new_path, diff?.new_file, diff?.a_mode, diff?.b_mode, diff?.diff],
    ['grace', true, '0', '100644', '@@ -0,0 +1,2 @@\n+one\n+two\n'],
  );
  assert.equal((await Commits.showSequence(id, side.id)).count, 3);
  assert.deepEqual(await Commits.allReferences(id, ada.id, { type: 'all' }), [
    { type: 'branch', name: 'main' },
    { type: 'branch', name: 'side' },
  ]);
  const unsigned = await refusal(Commits.showGPGSignature(id, ada.id));
  assert.deepEqual([unsigned.status, unsigned.text], [404, '404 Signature Not Found']);
});

test('a CI system reports a status, which the commit shows', async () => {
  const { id, Commits } = await workplace();
  const [commit] = await Commits.all(id);
  const sha = commit!.id;
  const running = await Commits.editStatus(id, sha, 'running', {
    name: 'build',
    targetUrl: 'https://ci.example.com/1',
  });
  assert.deepEqual(
    [
      running.sha,
      running.ref,
      running.name,
      running.status,
      running.target_url,
      running.allow_failure,
      running.finished_at,
    ],
    [sha, 'main', 'build', 'running', 'https://ci.example.com/1', false, null],
  );
  assert.equal((await Commits.show(id, sha)).status, 'running');
  const done = await Commits.editStatus(id, sha, 'success', {
    name: 'build',
    coverage: 87.5,
    description: 'All green',
  });
  assert.deepEqual([done.id, done.status, done.coverage, done.description], [running.id, 'success', 87.5, 'All green']);
  await Commits.editStatus(id, sha, 'failed', { name: 'lint' });
  assert.deepEqual(
    (await Commits.allStatuses(id, sha)).map(({ name, status }) => [name, status]),
    [
      ['build', 'success'],
      ['lint', 'failed'],
    ],
  );
  assert.equal((await Commits.allStatuses(id, sha, { name: 'lint' })).length, 1);
  assert.equal((await Commits.show(id, sha)).status, 'failed');
});

test('a commit is commented on and discussed, also at a line of its diff', async () => {
  const { id, Commits, CommitDiscussions } = await workplace();
  const [base] = await Commits.all(id);
  const { id: sha } = await Commits.create(id, 'main', 'Write', [
    { action: 'create', filePath: 'a b', content: 'one\ntwo\n' },
  ]);
  const plain = await Commits.createComment(id, sha, 'Fine.');
  assert.deepEqual([plain.note, plain.path, plain.line_type], ['Fine.', null, null]);
  const lined = await Commits.createComment(id, sha, 'Why two?', { path: 'a b', line: 2, lineType: 'new' });
  assert.deepEqual([lined.path, lined.line, lined.line_type], ['a b', 2, 'new']);

  const refs = { baseSha: base!.id, startSha: base!.id, headSha: sha };
  const place = { ...refs, positionType: 'text', newPath: 'a b', newLine: '1' } as const;
  const thread = await CommitDiscussions.create(id, sha, 'And one?', { position: { ...place, oldPath: 'a b' } });
  const [first] = thread.notes!;
  assert.deepEqual(
    [first?.type, first?.noteable_type, first?.noteable_id, first?.commit_id],
    ['DiffNote', 'Commit', null, sha],
  );
  assert.equal((first!.position as { new_line: number }).new_line, 1);
  const answer = await CommitDiscussions.addNote(id, sha, thread.id, 'To begin.');
  assert.equal(
    (await CommitDiscussions.editNote(id, sha, thread.id, answer.id, { body: 'To start.' })).body,
    'To start.',
  );
  const absent = await refusal(CommitDiscussions.create(id, sha, 'x', { position: { ...place, newLine: '9' } }));
  assert.equal(absent.status, 400);
  assert.deepEqual(
    (await CommitDiscussions.all(id, sha, { perPage: 1 })).map(({ notes }) => notes?.map(({ body }) => body)),
    [['Fine.'], ['Why two?'], ['And one?', 'To start.']],
  );
  assert.equal((await Commits.allDiscussions(id, sha)).length, 3);
  assert.deepEqual(
    (await Commits.allComments(id, sha)).map(({ note }) => note),
    ['Fine.', 'Why two?', 'And one?', 'To start.'],
  );
  await CommitDiscussions.removeNote(id, sha, thread.id, answer.id);
  assert.equal((await CommitDiscussions.show(id, sha, thread.id)).notes?.length, 1);
  assert.equal((await refusal(CommitDiscussions.show(id, base!.id, thread.id))).text, '404 Discussion Not Found');
});
