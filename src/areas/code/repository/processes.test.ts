import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { userGit } from '../../../../test/support/bare_repository.ts';
import { launcherOf } from '../../../../test/support/launcher.ts';
import { fileUrl, filledWorld, onMain, repositoryIn } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';
import { gitLoad } from '../../../git/index.ts';

// Runs in a process of its own: it counts the git processes that the process starts.

type Request = (place: World, number: number) => Promise<{ status: number }>;

const url = ({ project }: World, path: string) => `/projects/${project.id}/repository/${path}`;
const get =
  (path: string): Request =>
  (place) =>
    place.as('maintainer').get(url(place, path));
const post =
  (path: string, body: (number: number) => Record<string, unknown>): Request =>
  (place, number) =>
    place.as('maintainer').post(url(place, path), body(number));

/** How many processes of git each starts when it is repeated, and after a commit to the default branch. */
const table: [name: string, repeated: number, after_commit: number, request: Request][] = [
  ['branches', 0, 0, get('branches')],
  ['branches by date', 0, 0, get('branches?sort=updated_desc')],
  ['a branch', 0, 0, get('branches/side')],
  ['tags', 0, 0, get('tags')],
  ['a tag', 0, 0, get('tags/heavy')],
  ['a name that git would read as an id', 0, 0, get('commits/odd-gabcdef')],
  ['commits', 0, 0, get('commits')],
  ['commits of a path', 0, 1, get('commits?path=README.md')],
  ['commits with stats', 0, 0, get('commits?with_stats=true')],
  ['commits of all branches', 0, 1, get('commits?all=true')],
  ['a commit', 0, 0, get('commits/main')],
  ['a diff', 0, 1, get('commits/main/diff')],
  ['a folder', 0, 0, get('tree')],
  ['a file', 0, 0, get('files/README.md?ref=main')],
  ['blame', 0, 0, get('files/README.md/blame?ref=main')],
  ['a comparison', 0, 4, get('compare?from=side&to=main')],
  ['a merge base', 0, 1, get('merge_base?refs[]=side&refs[]=main')],
  [
    'a new file',
    0,
    0,
    (place, number) =>
      place.as('maintainer').post(fileUrl(place.project, `new-${number}`), { ...onMain, content: 'x\n' }),
  ],
  [
    'a changed file',
    0,
    0,
    (place, number) =>
      place.as('maintainer').put(fileUrl(place.project, 'changing'), { ...onMain, content: `${number}\n` }),
  ],
  [
    'a commit of several files',
    0,
    0,
    post('commits', (number) => ({
      ...onMain,
      actions: ['one', 'two'].map((name) => ({ action: 'create', file_path: `${name}-${number}`, content: 'x\n' })),
    })),
  ],
  ['a new branch', 0, 0, post('branches', (number) => ({ branch: `new-${number}`, ref: 'main' }))],
  ['a new tag', 0, 0, post('tags', (number) => ({ tag_name: `new-${number}`, ref: 'main' }))],
];

test('results that depend only on object ids are requested from git once, and a commit starts no process', async () => {
  const place = await filledWorld();
  const repository = repositoryIn(place);
  const write = async (path: string, branch: string, more = {}) => {
    const created = await place
      .as('maintainer')
      .post(fileUrl(place.project, path), { branch, commit_message: path, content: `${path}\n`, ...more });
    assert.equal(created.status, 201, JSON.stringify(created.body));
  };
  await write('changing', 'main');
  await write('side', 'side', { start_branch: 'main' });
  await write('other', 'main');
  await write('odd', 'odd-gabcdef', { start_branch: 'main' });
  await userGit(repository.path, 'tag', '-a', '-m', 'heavy', 'heavy', 'side');
  let number = 0;
  const counted = async (request: Request) => {
    const before = gitLoad().started;
    const { status } = await request(place, ++number);
    assert.ok(status < 300, String(status));
    return gitLoad().started - before;
  };
  const found: unknown[] = [];
  for (const [name, , , request] of table) {
    await counted(request);
    const repeated = await counted(request);
    await write(`unrelated-${++number}`, 'main');
    found.push([name, repeated, await counted(request)]);
  }
  assert.deepEqual(
    found,
    table.map(([name, repeated, after_commit]) => [name, repeated, after_commit]),
  );
});

test('a request whose git is lost with the process that starts it gets 503, and the next one works', {
  skip: process.platform !== 'linux',
}, async () => {
  const here = await filledWorld();
  const asked = () => here.as('reporter').get(url(here, 'archive.tar.gz'));
  assert.equal((await asked()).status, 200);
  const { pid } = await launcherOf(process.pid);
  process.kill(pid, 'SIGSTOP');
  const { started } = gitLoad();
  const lost = asked();
  while (gitLoad().started === started) await nextTurn();
  process.kill(pid, 'SIGKILL');
  const { status, body } = await lost;
  assert.deepEqual([status, body], [503, { message: '503 Service Unavailable' }]);
  assert.equal((await asked()).status, 200);
});
