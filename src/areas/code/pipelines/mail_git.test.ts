import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailOf } from '../../../../test/support/mail.ts';
import { fileUrl, filledWorld, onMain } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import type { Persona, World } from '../../../../test/support/world.ts';
import { collectNotifications, sendNotification } from '../../activity/notifications/index.ts';

/** Mail about pipelines since the last call: to whom, and what it says first. */
async function news({ services, people }: World): Promise<string[]> {
  const mails = await mailOf(services, [collectNotifications, sendNotification]);
  const personas = Object.entries(people).map(([persona, { username }]) => [username, persona] as const);
  return mails.map(({ to, paragraphs }) => {
    const [, persona] = personas.find(([username]) => to.address.startsWith(`${username}@`))!;
    return `${persona}: ${String(paragraphs[0]).replace(/#\d+/, '#1')}`;
  });
}

test('the author of a commit is notified that its pipeline failed, and that the next one succeeded', async () => {
  const here = await filledWorld({});
  const { as, project } = here;
  const url = `/projects/${project.id}`;
  const commit = async (by: Persona) => {
    await sent(as(by).post(fileUrl(project, `${Math.random()}`), { ...onMain, content: 'x' }));
    return (await as('reporter').get(`${url}/repository/commits/main`)).body.id as string;
  };
  const report = (sha: string, state: string, name = 'build') =>
    sent(as('owner').post(`${url}/statuses/${sha}`, { state, ref: 'main', name }));
  const set = async (persona: Persona, settings: object) =>
    assert.equal((await as(persona).put('/notification_settings', { ...settings })).status, 200);
  await news(here);

  const first = await commit('maintainer');
  await report(first, 'running');
  assert.deepEqual(await news(here), []);
  await report(first, 'failed');
  assert.deepEqual(await news(here), ['maintainer: Pipeline #1 has failed: main']);
  await report(first, 'failed', 'lint');
  assert.deepEqual(await news(here), [], 'it has failed already');
  const second = await commit('maintainer');
  await report(second, 'success');
  assert.deepEqual(await news(here), ['maintainer: Pipeline #1 has been fixed: main']);
  await report(await commit('maintainer'), 'success');
  assert.deepEqual(await news(here), [], 'nothing was broken');

  await set('maintainer', { level: 'custom', failed_pipeline: false });
  await set('reporter', { level: 'custom', failed_pipeline: true });
  await set('guest', { level: 'custom', failed_pipeline: true });
  await report(await commit('maintainer'), 'failed');
  assert.deepEqual(await news(here), ['reporter: Pipeline #1 has failed: main'], 'guests may not read the code');

  await set('reporter', { level: 'custom', failed_pipeline: false, fixed_pipeline: false, success_pipeline: true });
  await report(await commit('maintainer'), 'success');
  assert.deepEqual(await news(here), ['maintainer: Pipeline #1 has been fixed: main'], 'which is another event');
  await report(await commit('maintainer'), 'success');
  assert.deepEqual(await news(here), ['reporter: Pipeline #1 has succeeded: main'], 'by their own choice');
  await set('maintainer', { level: 'custom', success_pipeline: true });
  await set('reporter', { level: 'participating' });
  await report(await commit('maintainer'), 'success');
  assert.deepEqual(await news(here), ['maintainer: Pipeline #1 has succeeded: main']);
});
