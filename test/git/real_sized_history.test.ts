/** A project as large as real ones, pushed with git and read through the API; git on a clone is the judge. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, test } from 'node:test';
import { pagesFrom } from '../support/client.ts';
import { type GitClient, gitClient } from '../support/git.ts';
import { type World, world } from '../support/world.ts';
import { busyFile, commits, historyStream, plainFile, plainFiles } from './history.ts';
import { clone, remoteFor } from './work_tree.ts';

let here: World;
let origin: GitClient;

/** git in the repository that the history was made in. */
async function git(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await origin.run(args);
  assert.equal(code, 0, stderr);
  return stdout;
}

before(async () => {
  here = await world();
  origin = await gitClient();
  await git('init', '-q', '--bare', '-b', 'main', '.');
  const { code, stderr } = await origin.run(['fast-import', '--quiet'], { input: historyStream() });
  assert.equal(code, 0, stderr);
  await git('push', '-q', remoteFor(here, 'maintainer'), 'main');
});

const fileUrl = (path: string, below = '') =>
  `/projects/${here.project.id}/repository/files/${encodeURIComponent(path)}${below}`;

test('the history has the intended size', async () => {
  assert.equal(Number(await git('rev-list', '--count', 'main')), commits);
  assert.ok((await git('ls-tree', '-r', '--name-only', 'main')).trim().split('\n').length > 2000);
});

test('files and their metadata are the same as with git', async () => {
  const head = (await git('rev-parse', 'main')).trim();
  const client = here.as('reporter');
  for (const path of [plainFile(0), plainFile(777), plainFile(plainFiles - 1), busyFile]) {
    const content = await git('cat-file', 'blob', `main:${path}`);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const shown = await client.get(fileUrl(path), { ref: 'main' });
    assert.equal(shown.status, 200);
    assert.equal(Buffer.from(shown.body.content, 'base64').toString(), content);
    const expected = {
      file_path: path,
      size: Buffer.byteLength(content),
      content_sha256: sha256,
      blob_id: (await git('rev-parse', `main:${path}`)).trim(),
      commit_id: head,
      last_commit_id: (await git('log', '-1', '--format=%H', 'main', '--', path)).trim(),
    };
    for (const [name, value] of Object.entries(expected)) assert.equal(shown.body[name], value, name);

    const known = await client.head(fileUrl(path), { ref: 'main' });
    assert.equal(known.headers.get('x-gitlab-content-sha256'), sha256);
    assert.equal(known.headers.get('x-gitlab-last-commit-id'), expected.last_commit_id);
    const raw = await client.get(fileUrl(path, '/raw'));
    assert.equal(raw.body, content);
    assert.equal(raw.headers.get('x-gitlab-content-sha256'), sha256);
  }
});

test('an old version of a file is read at its commit', async () => {
  const commit = (await git('rev-parse', 'main~3000')).trim();
  const { body } = await here.as('reporter').get(fileUrl(busyFile), { ref: commit });
  assert.equal(Buffer.from(body.content, 'base64').toString(), await git('cat-file', 'blob', `${commit}:${busyFile}`));
  assert.equal(body.last_commit_id, (await git('log', '-1', '--format=%H', commit, '--', busyFile)).trim());
});

/** The commit of each line and the line, as `git blame` says. */
function linesOfPorcelain(porcelain: string): [string, string][] {
  let commit = '';
  const lines: [string, string][] = [];
  for (const line of porcelain.split('\n')) {
    if (/^[0-9a-f]{40} \d/.test(line)) commit = line.slice(0, 40);
    else if (line.startsWith('\t')) lines.push([commit, line.slice(1)]);
  }
  return lines;
}

interface Range {
  commit: { id: string; author_email: string };
  lines: string[];
}

const linesOfRanges = (ranges: Range[]): [string, string][] =>
  ranges.flatMap(({ commit, lines }) => lines.map((line): [string, string] => [commit.id, line]));

test('the blame of a file with hundreds of changes equals that of git', async () => {
  const expected = linesOfPorcelain(await git('blame', '--porcelain', 'main', '--', busyFile));
  assert.ok(new Set(expected.map(([commit]) => commit)).size > 200);
  const { status, body } = await here.as('reporter').get(fileUrl(busyFile, '/blame'), { ref: 'main' });
  assert.equal(status, 200);
  assert.deepEqual(linesOfRanges(body), expected);
  const isGrouped = (body as Range[]).every(({ commit }, index) => commit.id !== body[index + 1]?.commit.id);
  assert.ok(isGrouped, 'Two neighbors are of the same commit.');

  const part = await here
    .as('reporter')
    .get(fileUrl(busyFile, '/blame'), { ref: 'main', range: { start: 20, end: 60 } });
  assert.deepEqual(linesOfRanges(part.body), expected.slice(19, 60));
});

/** The ids of a list of commits, page after page as the Link header leads, to the end. */
async function listed(parameters: Record<string, unknown>): Promise<string[]> {
  const ids: string[] = [];
  const query = new URLSearchParams({ per_page: '100', ...parameters });
  for await (const { status, body } of pagesFrom(
    here.as('reporter'),
    `/projects/${here.project.id}/repository/commits?${query}`,
  )) {
    assert.equal(status, 200);
    ids.push(...body.map(({ id }: { id: string }) => id));
  }
  return ids;
}

const idsOf = (output: string) => output.trim().split('\n');

test('the list of commits reaches the very first one, in the order of git', async () => {
  assert.deepEqual(await listed({}), idsOf(await git('rev-list', 'main')));
  assert.deepEqual(await listed({ path: busyFile }), idsOf(await git('rev-list', 'main', '--', busyFile)));
  assert.deepEqual(await listed({ first_parent: 'true' }), idsOf(await git('rev-list', '--first-parent', 'main')));
  const [since, until] = ['2020-09-20T00:00:00Z', '2020-09-27T00:00:00Z'];
  const inWeek = await git('rev-list', `--since=${since}`, `--until=${until}`, 'main');
  assert.deepEqual(await listed({ since, until }), idsOf(inWeek));
});

test('a file changed through the API is in a fresh clone, with its whole history', async () => {
  const { username } = here.people.maintainer;
  const path = plainFile(1234);
  const answer = await here
    .as('maintainer')
    .put(fileUrl(path), { branch: 'main', content: 'short\n', commit_message: 'Cut' });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const work = await clone(remoteFor(here, 'reporter'));
  assert.equal(await work.git('show', `HEAD:${path}`), 'short');
  assert.equal(await work.git('log', '-1', '--format=%s|%ae', '--', path), `Cut|${username}@example.com`);
  assert.equal(await work.git('rev-list', '--count', 'HEAD'), String(commits + 1));
  assert.equal(await work.git('diff', '--name-only', 'HEAD~1'), path);
  await work.git('fsck', '--strict');
});
