import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gitClient, remoteOf } from '../../../../../test/support/git.ts';
import { performJob } from '../../../../../test/support/jobs.ts';
import { filledWorld } from '../../../../../test/support/repository.ts';
import { removeOldFetches } from './jobs.ts';

test('clones and fetches over HTTP are counted per day, and requests for refs are not', async () => {
  const here = await filledWorld();
  const { as, project, people, url, db, services } = here;
  const statistics = `/projects/${project.id}/statistics`;
  assert.deepEqual((await as('reporter').get(statistics)).body, { fetches: { total: 0, days: [] } });
  const client = await gitClient();
  const remote = remoteOf(url, project.full_path, people.reporter.token);
  for (const args of [
    ['clone', '-q', remote, 'one'],
    ['-c', 'protocol.version=0', 'clone', '-q', remote, 'two'],
    ['ls-remote', remote],
  ])
    assert.equal((await client.run(args)).code, 0);
  const today = new Date().toISOString().slice(0, 10);
  const { body } = await as('reporter').get(statistics);
  assert.deepEqual(body, { fetches: { total: 2, days: [{ count: 2, date: today }] } });

  const before = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  const rows = [29, 30].map((days) => ({ project_id: project.id, date: before(days), count: 5 }));
  await db.insertInto('project_fetches').values(rows).execute();
  const shown = (await as('reporter').get(statistics)).body.fetches;
  assert.deepEqual([shown.total, shown.days.at(-1)], [7, { count: 5, date: before(29) }]);
  await performJob(services, removeOldFetches);
  const kept = db.selectFrom('project_fetches').select('date').where('project_id', '=', project.id);
  assert.equal((await kept.execute()).length, 2);
});

test('statistics are for Reporters', async () => {
  const { as, project } = await filledWorld();
  for (const [persona, status] of [
    ['anonymous', 401],
    ['guest', 403],
    ['reporter', 200],
  ] as const)
    assert.equal((await as(persona).get(`/projects/${project.id}/statistics`)).status, status);
});
