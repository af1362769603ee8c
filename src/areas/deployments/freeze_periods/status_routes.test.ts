import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gitClient, remoteOf } from '../../../../test/support/git.ts';
import { fileUrl, filledWorld, headOf } from '../../../../test/support/repository.ts';
import { world } from '../../../../test/support/world.ts';
import { maximumPeriods } from './queries.ts';

const nextYear = new Date().getUTCFullYear() + 1;
/** Begins every minute and ends with the year. */
const untilNewYear = { freeze_start: '* * * * *', freeze_end: '0 0 1 1 *' };
const never = '0 0 -30 2 *';

test('a project shows Reporters whether it is frozen, until when, and when the next freeze begins', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}/freeze_status`;
  const periods = `/projects/${project.id}/freeze_periods`;
  const free = { frozen: false, until: null, freeze_period_id: null };
  assert.deepEqual((await as('reporter').get(url)).body, { ...free, next_start: null });
  assert.equal((await as('guest').get(url)).status, 403);

  const coming = await as('maintainer').post(periods, { freeze_start: '0 0 1 1 *', freeze_end: '0 12 1 1 *' });
  const start = `${nextYear}-01-01T00:00:00.000Z`;
  assert.deepEqual((await as('reporter').get(url)).body, { ...free, next_start: start });
  await as('maintainer').delete(`${periods}/${coming.body.id}`);

  const frozen = await as('maintainer').post(periods, untilNewYear);
  assert.deepEqual((await as('reporter').get(url)).body, {
    frozen: true,
    until: start,
    freeze_period_id: frozen.body.id,
    next_start: `${nextYear}-01-01T00:01:00.000Z`,
  });

  await as('maintainer').put(`${periods}/${frozen.body.id}`, { freeze_end: never });
  assert.deepEqual((await as('reporter').get(url)).body, {
    frozen: true,
    until: null,
    freeze_period_id: frozen.body.id,
    next_start: null,
  });
  await as('maintainer').post(periods, untilNewYear);
  assert.equal((await as('reporter').get(url)).body.freeze_period_id, frozen.body.id);
});

test('a project has a limited number of freeze periods', async () => {
  const { as, project, db } = await world();
  const url = `/projects/${project.id}/freeze_periods`;
  const { body } = await as('maintainer').post(url, untilNewYear);
  const { id: _, ...row } = await db
    .selectFrom('freeze_periods')
    .selectAll()
    .where('id', '=', body.id)
    .executeTakeFirstOrThrow();
  await db
    .insertInto('freeze_periods')
    .values(Array.from({ length: maximumPeriods - 2 }, () => row))
    .execute();
  const last = await Promise.all([as('maintainer').post(url, untilNewYear), as('maintainer').post(url, untilNewYear)]);
  assert.deepEqual(last.map(({ status }) => status).sort(), [201, 400]);
  assert.deepEqual(last.find(({ status }) => status === 400)?.body, {
    message: { base: ['Maximum number of freeze periods (100) exceeded'] },
  });
});

test('during a freeze protected branches refuse changes if the project blocks pushes, and other branches accept them', async () => {
  const here = await filledWorld();
  const { as, project, people, url } = here;
  const head = await headOf(here, 'main');
  const edit = { branch: 'main', commit_message: 'Edit', content: 'new\n' };
  const message = `This project is frozen until ${nextYear}-01-01T00:00:00.000Z. You cannot change its protected branches during a freeze.`;
  await as('maintainer').post(`/projects/${project.id}/freeze_periods`, untilNewYear);

  const set = await as('maintainer').put(`/projects/${project.id}`, { freeze_blocks_pushes: true });
  assert.equal(set.body.freeze_blocks_pushes, true);

  const byFile = await as('maintainer').post(fileUrl(project, 'during.txt'), edit);
  assert.deepEqual([byFile.status, byFile.body.message], [400, message]);
  const actions = [{ action: 'create', file_path: 'during.txt', content: 'new\n' }];
  const byCommit = await as('maintainer').post(`/projects/${project.id}/repository/commits`, { ...edit, actions });
  assert.deepEqual([byCommit.status, byCommit.body.message], [400, message]);

  const client = await gitClient();
  await client.run(['clone', '-q', remoteOf(url, project.full_path, people.maintainer.token), 'work']);
  await client.run(['commit', '-q', '--allow-empty', '-m', 'Edit'], { at: 'work' });
  const pushed = await client.run(['push', 'origin', 'main'], { at: 'work' });
  assert.equal(pushed.code, 1);
  assert.match(pushed.stderr, new RegExp(message.replaceAll('.', '\\.')));
  assert.equal(await headOf(here, 'main'), head);
  assert.equal((await client.run(['push', 'origin', 'main:topic'], { at: 'work' })).code, 0);

  await as('maintainer').put(`/projects/${project.id}`, { freeze_blocks_pushes: false });
  assert.equal((await client.run(['push', 'origin', 'main'], { at: 'work' })).code, 0);
  assert.notEqual(await headOf(here, 'main'), head);
});
