/** The page with the security policies of a project or group. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSecurityPolicies } from '../../src/areas/code/security_policies/index.ts';
import { browserOf, fillIn } from '../support/browser.ts';
import { formsIn } from '../support/html_tree.ts';
import { performQueued } from '../support/jobs.ts';
import { personWith } from '../support/member_roles.ts';
import { addPolicyProject, approvalPolicy, pushPolicies } from '../support/policies.ts';
import { filledWorld } from '../support/repository.ts';

test('an Owner links a group to a policy project, and its projects show what is in force', async () => {
  const here = await filledWorld();
  const { group, project, people } = here;
  const policies = await addPolicyProject(here);
  const owner = await browserOf(here, people.owner);
  const ofGroup = `/groups/${group.full_path}/-/security/policies`;
  const ofProject = `/${project.full_path}/-/security/policies`;
  const wrong = await fillIn(owner, ofGroup, 'link', { project_id: 'no/where' });
  assert.equal(wrong.status, 404);
  const linked = await fillIn(owner, ofGroup, 'link', { project_id: policies.full_path });
  assert.deepEqual([linked.status, linked.to], [303, `${ofGroup}?done=link`]);
  await performQueued(here.services, [readSecurityPolicies]);
  await pushPolicies(here, policies, approvalPolicy());
  await pushPolicies(here, policies, 'fruit_policy: []\n');

  const developer = await browserOf(here, people.developer);
  const { status, html } = await developer.get(ofProject);
  assert.equal(status, 200);
  for (const text of ['Four eyes', `through the group`, 'fruit_policy is not a kind of policies', 'stays in force'])
    assert.ok(html.includes(text), text);
  assert.deepEqual(
    formsIn(html).filter(({ id }) => id === 'link' || id === 'unlink'),
    [],
  );
  assert.equal((await (await browserOf(here, people.reporter)).get(ofProject)).status, 403);

  const names = async (path: string) => formsIn((await owner.get(path)).html).map(({ id }) => id);
  assert.ok(!(await names(ofProject)).includes('unlink'), 'the link of a group ends in the group');
  assert.equal((await fillIn(owner, ofGroup, 'unlink', {})).status, 303);
  assert.match((await developer.get(ofProject)).html, /This project has no policy project/);
});

test('a member with only the permission reaches the page by the navigation and links the project', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const policies = await addPolicyProject(here);
  const linker = await personWith(here, `/projects/${project.id}`, ['manage_security_policy_link']);
  await as('owner').post(`/projects/${policies.id}/members`, { user_id: linker.id, access_level: 20 });
  const browser = await browserOf(here, linker);
  const path = `/${project.full_path}/-/security/policies`;
  assert.ok((await browser.get(`/${project.full_path}`)).html.includes(`href="${path}"`));
  assert.equal((await fillIn(browser, path, 'link', { project_id: policies.full_path })).status, 303);
  assert.ok((await browser.get(path)).html.includes(policies.name));
});
