/** The pages of environments. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../support/browser.ts';
import { filledWorld, headOf } from '../support/repository.ts';

test('environments and what was deployed to them are shown to those who may read them', async () => {
  const here = await filledWorld();
  const { as, project, people } = here;
  const sha = await headOf(here);
  const given = { environment: 'production', sha, ref: 'main', tag: false, status: 'success' };
  const { body } = await as('developer').post(`/projects/${project.id}/deployments`, given);
  const address = `/${project.full_path}/-/environments`;
  const browser = await browserOf(here, people.reporter);
  const { html: list } = await browser.get(address);
  assert.ok(list.includes(`href="${address}/${body.environment.id}"`));
  const { html: one } = await browser.get(`${address}/${body.environment.id}`);
  assert.ok(one.includes('#1 main at ') && one.includes(sha!.slice(0, 8)));
  const guest = await browserOf(here, people.guest);
  assert.notEqual((await guest.get(address)).status, 200);
});
