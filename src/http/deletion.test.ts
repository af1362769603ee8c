import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../test/support/world.ts';

test('of parallel deletions of one thing exactly one succeeds, and the others are answered as if they came later', async () => {
  const here = await world();
  const { group, project } = here;
  const admin = here.as('admin');
  const made = async (path: string, parameters: object, id: 'id' | 'iid' = 'id'): Promise<string> => {
    const { status, body } = await admin.post(path, { ...parameters });
    assert.equal(status, 201, JSON.stringify(body));
    return `${path}/${body[id]}`;
  };
  const [inProject, inGroup] = [`/projects/${project.id}`, `/groups/${group.id}`];
  const issue = await made(`${inProject}/issues`, { title: 'Kept' }, 'iid');
  const name = `twice-${group.id}`;
  const cadence = { title: 'Weekly', start_date: '2026-01-05', duration_in_weeks: 1, iterations_in_advance: 2 };
  const rows = [
    await made(`${inProject}/issues`, { title: 'Gone' }, 'iid'),
    await made(`${inGroup}/epics`, { title: 'Gone' }, 'iid'),
    await made(`${inProject}/labels`, { name: 'gone', color: '#112233' }),
    await made(`${inGroup}/milestones`, { title: 'Gone' }),
    await made(`${inGroup}/iteration_cadences`, cadence),
    await made(`${issue}/notes`, { body: 'Gone' }),
    await made(`${issue}/award_emoji`, { name: 'rocket' }),
    await made(`${inProject}/freeze_periods`, { freeze_start: '0 1 * * *', freeze_end: '0 2 * * *' }),
  ];
  const marked = [
    await made('/projects', { name, namespace_id: group.id }),
    await made('/groups', { name: `${name}-group`, path: `${name}-group`, parent_id: group.id }),
  ];
  for (const [paths, done, late] of [
    [rows, 204, 404],
    [marked, 202, 400],
  ] as const)
    for (const path of paths) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => admin.delete(path)));
      const statuses = answers.map(({ status }) => status).sort();
      assert.deepEqual(statuses, [done, ...Array(9).fill(late)].sort(), path);
      const later = await admin.delete(path);
      for (const { status, body } of answers) if (status === late) assert.deepEqual(body, later.body, path);
    }
  const again = await admin.delete(marked[0]!);
  assert.deepEqual([again.status, again.body], [400, { message: 'Project has been already marked for deletion' }]);
});

test('what serves operators and people is not open to other origins', async () => {
  const { url } = await world();
  const headersOf = async (path: string) =>
    (await fetch(`${url}${path}`, { headers: { origin: 'http://evil.example' } })).headers;
  assert.equal((await headersOf('/api/v4/version')).get('access-control-allow-origin'), '*');
  for (const path of ['/-/metrics', '/-/health', '/%2d/metrics'])
    assert.equal((await headersOf(path)).get('access-control-allow-origin'), null, path);
});
