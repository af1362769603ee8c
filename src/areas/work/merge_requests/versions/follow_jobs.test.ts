import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { addMergeRequest } from '../../../../../test/support/merge_requests.ts';
import { filledWorld } from '../../../../../test/support/repository.ts';
import type { World } from '../../../../../test/support/world.ts';
import { concludeMerges, mergeReady } from '../merging/jobs.ts';
import { followThreads } from './follow_jobs.ts';
import { followMergeRequests, prepareMergeRequest } from './jobs.ts';

const jobs = [prepareMergeRequest, followMergeRequests, followThreads];
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`);
const textOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
const codeOf = (path: string, line: string) => `${createHash('sha1').update(path).digest('hex')}_${line}`;

async function commit({ as, project }: World, actions: object[], branch = 'topic', rest = {}) {
  const change = { branch, commit_message: 'Change files', actions, ...rest };
  const made = await as('developer').post(`/projects/${project.id}/repository/commits`, change);
  assert.equal(made.status, 201, JSON.stringify(made.body));
}

const write = (file_path: string, lines: readonly string[], action = 'update') => ({
  action,
  file_path,
  content: textOf(lines),
});

test('threads follow the code through new versions, become outdated, and are then resolved if the project is configured so', async () => {
  const here = await filledWorld();
  const { as, project, people, services } = here;
  const url = `/projects/${project.id}/merge_requests/1`;
  const [old, rest] = [numbers(1, 30), numbers(50, 60)];
  const setUp = await as('maintainer').post(`/projects/${project.id}/repository/commits`, {
    branch: 'main',
    commit_message: 'Add a file',
    actions: [write('old.txt', old, 'create'), write('gone.txt', ['gone'], 'create')],
  });
  assert.equal(setUp.status, 201, JSON.stringify(setUp.body));
  const changed = [...old.slice(0, 9), 'ten', ...old.slice(11), 'last'];
  const image = { action: 'create', file_path: 'dot.png', content: 'iVBORw0KGgoA', encoding: 'base64' };
  await commit(
    here,
    [
      write('old.txt', changed),
      write('new.txt', ['one', 'two', 'three', ...rest], 'create'),
      image,
      { action: 'delete', file_path: 'gone.txt' },
    ],
    'topic',
    { start_branch: 'main' },
  );
  const { diff_refs: first } = await addMergeRequest(here);
  await performQueued(services, jobs);

  const begin = async (place: object, refs = first) => {
    const position = { ...refs, position_type: 'text', ...place };
    const begun = await as('reporter').post(`${url}/discussions`, { body: 'Here', position });
    assert.equal(begun.status, 201, JSON.stringify(begun.body));
    return begun.body.id as string;
  };
  const notesOf = async (id: string) => (await as('reporter').get(`${url}/discussions/${id}`)).body.notes;
  const placeOf = async (id: string) => {
    const [{ position }] = await notesOf(id);
    return [position.head_sha, position.old_path, position.new_path, position.old_line, position.new_line];
  };
  const refsNow = async () => (await as('reporter').get(url)).body.diff_refs;
  const at = (line: string) => ({ line_code: codeOf('new.txt', line), type: 'new' });

  const added = await begin({ new_path: 'new.txt', new_line: 2, line_range: { start: at('0_2'), end: at('0_3') } });
  const half = await begin({ new_path: 'new.txt', new_line: 2, line_range: { start: at('0_1'), end: at('0_2') } });
  const removed = await begin({ new_path: 'old.txt', old_line: 11 });
  const unchanged = await begin({ new_path: 'old.txt', old_line: 29, new_line: 28 });
  const deleted = await begin({ old_path: 'gone.txt', old_line: 1 });
  const file = await begin({ new_path: 'dot.png', position_type: 'file' });
  const picture = await begin({ new_path: 'dot.png', position_type: 'image', width: 1, height: 1, x: 0, y: 0 });
  const reply = await as('developer').post(`${url}/discussions/${added}/notes`, { body: 'There' });
  assert.equal(reply.status, 201);
  const [{ position: original }] = await notesOf(added);

  // Lines above move those below; one end of a range is gone.
  await commit(here, [
    write('new.txt', ['zero', 'half', 'two', 'three', ...rest]),
    write('old.txt', ['top', ...changed]),
  ]);
  await performQueued(services, jobs);
  const second = await refsNow();
  const moved = await notesOf(added);
  const end = (line: number) => ({ line_code: codeOf('new.txt', `0_${line}`), type: 'new', new_line: line });
  const line = { ...original, ...second, new_line: 3, line_range: { start: end(3), end: end(4) } };
  assert.deepEqual(
    moved.map((note: { position: object; original_position: object }) => [note.position, note.original_position]),
    [
      [line, original],
      [line, original],
    ],
  );
  const late = (await as('developer').post(`${url}/discussions/${added}/notes`, { body: 'Still there' })).body;
  assert.deepEqual([late.position, late.original_position], [line, original]);
  assert.deepEqual(await placeOf(half), [first.head_sha, 'new.txt', 'new.txt', null, 2]);
  assert.deepEqual(await placeOf(removed), [second.head_sha, 'old.txt', 'old.txt', 11, null]);
  assert.deepEqual(await placeOf(unchanged), [second.head_sha, 'old.txt', 'old.txt', 29, 29]);
  assert.deepEqual(await placeOf(deleted), [second.head_sha, 'gone.txt', 'gone.txt', 1, null]);
  assert.equal((await placeOf(file))[0], second.head_sha);
  assert.equal((await placeOf(picture))[0], second.head_sha);
  assert.equal((await notesOf(half))[0].resolved, false);

  // A rename is followed. A line that changes is gone, like an image; without the setting its thread stays open.
  const renamed = [
    {
      action: 'move',
      previous_path: 'new.txt',
      file_path: 'renamed.txt',
      content: textOf(['zero', 'half', 'two', '3', ...rest]),
    },
    { ...image, action: 'update', content: 'iVBORw0KGgoB' },
  ];
  await commit(here, [...renamed, write('old.txt', ['top', ...changed.slice(0, -1)])]);
  await performQueued(services, jobs);
  const third = await refsNow();
  assert.deepEqual(await placeOf(added), [second.head_sha, 'new.txt', 'new.txt', null, 3]);
  assert.equal((await placeOf(picture))[0], second.head_sha);
  assert.equal((await placeOf(file))[0], third.head_sha);
  assert.deepEqual(await placeOf(unchanged), [second.head_sha, 'old.txt', 'old.txt', 29, 29]);

  // With the setting, what becomes outdated is resolved, by who pushed. A thread that begins on an earlier version follows at once, and stays open.
  assert.equal(
    (await as('maintainer').put(`/projects/${project.id}`, { resolve_outdated_diff_discussions: true })).status,
    200,
  );
  const [early, lost] = [
    await begin({ new_path: 'new.txt', new_line: 2 }),
    await begin({ new_path: 'new.txt', new_line: 1 }),
  ];
  assert.deepEqual(await performQueued(services, jobs), ['follow_threads', 'follow_threads']);
  assert.deepEqual(await placeOf(early), [third.head_sha, 'renamed.txt', 'renamed.txt', null, 3]);
  assert.deepEqual([(await placeOf(lost))[0], (await notesOf(lost))[0].resolved], [first.head_sha, false]);
  for (const id of [added, half, unchanged, file, picture, lost])
    assert.equal((await as('developer').put(`${url}/discussions/${id}`, { resolved: true })).status, 200);
  const setting = { only_allow_merge_if_all_discussions_are_resolved: true };
  assert.equal((await as('maintainer').put(`/projects/${project.id}`, setting)).status, 200);

  // The last version changes the line of `early` and takes the other places back. An automatic merge waits for the threads.
  const actions = [write('renamed.txt', ['zero', 'half', 'Two', '3', ...rest]), write('gone.txt', ['gone'], 'create')];
  await commit(here, [...actions, write('old.txt', old)]);
  await performQueued(services, [followMergeRequests]);
  const waiting = await as('maintainer').put(`${url}/merge`, { auto_merge: true });
  assert.deepEqual([waiting.status, waiting.body.state], [200, 'opened']);
  await performQueued(services, [followThreads]);
  for (const id of [early, removed, deleted]) {
    const [note] = await notesOf(id);
    assert.deepEqual(
      [note.position.head_sha, note.resolved, note.resolved_by?.id],
      [third.head_sha, true, people.developer.id],
    );
  }
  const system = (await as('reporter').get(`${url}/notes`, { activity_filter: 'only_activity' })).body;
  assert.equal(system.filter(({ body }: { body: string }) => body === 'resolved all threads').length, 1);
  assert.equal((await as('maintainer').get(url)).body.blocking_discussions_resolved, true);
  await performQueued(services, [mergeReady, concludeMerges]);
  assert.equal((await as('reporter').get(url)).body.state, 'merged');
});
