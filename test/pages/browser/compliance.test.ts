/** How a group leads its projects to what its framework demands, by the sentences of its pages alone. */
import assert from 'node:assert/strict';
import { browserOf, password } from '../../support/browser.ts';
import { browserTest, type Visitor } from '../../support/chromium.ts';
import { sent } from '../../support/sent.ts';
import { world } from '../../support/world.ts';

/** What somebody does on the page to which a sentence leads. */
const doing: Readonly<Record<string, (visitor: Visitor) => Promise<void>>> = {
  'Require at least one approval of merge requests.': async (visitor) => {
    const form = visitor.page.locator('form', { hasText: 'Add the rule' });
    await visitor.fill({ Name: 'Everybody', 'Approvals that are needed': '1' }, form);
    await visitor.press('Add the rule', form);
  },
  'Refuse pushes of files that are likely to be secrets.': async (visitor) => {
    await visitor.fill({ 'Refuse files that are likely to be secrets': true });
    await visitor.press('Save push rules');
  },
  'Only merge when the pipeline has passed.': async (visitor) => {
    await visitor.fill({ 'Only merge when the pipeline has passed': true });
    await visitor.press('Save changes');
  },
};

browserTest('ten projects are led from nothing to all requirements met', async (invite) => {
  const here = await world();
  const { as, group, project, people } = here;
  await sent(as('owner').delete(`/projects/${project.id}`));
  await browserOf(here, people.owner);
  const visitor = await invite(here.url);
  await visitor.signIn(people.owner.username, password);
  const pages = `/groups/${group.full_path}/-`;
  await visitor.open(`${pages}/settings/compliance`);
  await visitor.fill({ Name: 'Safe', 'What it is for': 'All of us', 'New projects in the group get it': true });
  await visitor.press('Create the framework');
  await visitor.follow('Safe');
  const add = async (Name: string, ...labels: string[]) => {
    const form = visitor.page.locator('form', { hasText: 'Add the requirement' });
    await visitor.fill({ Name, ...Object.fromEntries(labels.map((label) => [label, true])) }, form);
    await visitor.press('Add the requirement', form);
  };
  await add('Read by others', 'Merge requests need an approval');
  await add(
    'Sound',
    'Files that are likely to be secrets cannot be pushed',
    'Only what has passed its pipeline is merged',
  );
  for (let number = 1; number <= 10; number += 1)
    await sent(as('owner').post('/projects', { name: `tree-${number}`, namespace_id: group.id }));

  const overview = `${pages}/security/compliance`;
  const sentences = visitor.page.locator('main a', { hasText: new RegExp(Object.keys(doing).join('|')) });
  await visitor.open(overview);
  assert.equal(await sentences.count(), 30);
  for (let left = 30; left > 0; left -= 1) {
    const sentence = await sentences.first().innerText();
    await visitor.follow(sentence);
    await doing[sentence]!(visitor);
    await visitor.open(overview);
    assert.equal(await sentences.count(), left - 1);
  }
  const marks = await visitor.page.locator('main .chip').allInnerTexts();
  assert.deepEqual(marks, Array(10).fill('met'));
  const report = await visitor.page.request.get(`${here.url}${overview}.csv`);
  assert.equal((await report.text()).split(',', 1)[0], 'merge_commit');
  assert.equal(await visitor.page.getByRole('link', { name: 'Chain of custody as CSV' }).count(), 1);
  await visitor.follow(`${group.full_path}/tree-1`);
  await visitor.sees('All requirements are met.');
  await visitor.open(`/${group.full_path}/tree-1/-/settings/compliance`);
  await visitor.fill({ 'Safe: All of us': false });
  await visitor.press('Save changes');
  await visitor.open(`/${group.full_path}/tree-1/-/security/compliance`);
  await visitor.sees('The project has no compliance frameworks.');
});
