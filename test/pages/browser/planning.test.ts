/** What planning and talking in place need JavaScript for. */
import assert from 'node:assert/strict';
import { browserOf, password } from '../../support/browser.ts';
import { browserTest, type Invite } from '../../support/chromium.ts';
import { addIssue } from '../../support/issues.ts';
import { sent } from '../../support/sent.ts';
import { world } from '../../support/world.ts';

/** A world, and the browser of a planner who has signed in. */
async function enter(invite: Invite) {
  const here = await world();
  await browserOf(here, here.people.planner);
  const visitor = await invite(here.url);
  await visitor.signIn(here.people.planner.username, password);
  return { here, visitor, page: visitor.page };
}

browserTest('a card is dragged to another list, and to another place in it', async (invite) => {
  const { here, visitor, page } = await enter(invite);
  const { as, project } = here;
  const board = await sent(as('planner').post(`/projects/${project.id}/boards`, { name: 'Kanban' }));
  const label = await sent(as('planner').post(`/projects/${project.id}/labels`, { name: 'ripe', color: '#aabbcc' }));
  await sent(as('planner').post(`/projects/${project.id}/boards/${board.id}/lists`, { label_id: label.id }));
  for (const title of ['Pears', 'Plums', 'Figs']) await addIssue(here, { title });
  await visitor.open(`/${project.full_path}/-/boards/${board.id}`);
  const lists = page.locator('[data-list]');
  const card = (title: string) => page.locator('li.card', { hasText: title });
  const titlesIn = (list: number) => lists.nth(list).locator('a.title').allInnerTexts();
  /** Drags a card, and waits until the board is shown anew. */
  const dragTo = async (title: string, target: ReturnType<typeof card>, targetPosition?: { x: number; y: number }) => {
    const moved = page.waitForResponse((response) => response.request().method() === 'GET' && response.ok());
    await card(title).dragTo(target, targetPosition ? { targetPosition } : {});
    await moved;
    await page.locator('li.card[draggable="true"]').first().waitFor();
  };
  await card('Plums').and(page.locator('[draggable="true"]')).waitFor();
  await dragTo('Plums', lists.nth(1));
  await page.locator('[data-list]').nth(1).locator('li.card', { hasText: 'Plums' }).waitFor();
  assert.deepEqual(await titlesIn(1), ['Plums']);
  assert.equal(await page.getByRole('link', { name: 'ripe' }).count(), 1);
  const before = await titlesIn(0);
  await dragTo(before[1]!, card(before[0]!), { x: 20, y: 2 });
  assert.deepEqual(await titlesIn(0), before.toReversed());
  await visitor.open(visitor.path);
  assert.deepEqual([await titlesIn(0), await titlesIn(1)], [before.toReversed(), ['Plums']]);
});

browserTest('an own comment is edited and deleted without leaving the page', async (invite) => {
  const { here, visitor, page } = await enter(invite);
  const { iid } = await addIssue(here, { title: 'Mulch' });
  const path = `/projects/${here.project.id}/issues/${iid}/notes`;
  for (const body of ['With straw', 'With leaves']) await sent(here.as('planner').post(path, { body }));
  await visitor.open(`/${here.project.full_path}/-/issues/${iid}`);
  // What is typed elsewhere stays, since no other part of the page is read again.
  await page.getByLabel('Comment', { exact: true }).fill('And water');
  const note = page.locator('article.note').first();
  await note.getByRole('link', { name: 'Edit the comment' }).click();
  await note.getByRole('textbox').fill('With hay');
  await note.getByRole('button', { name: 'Save', exact: true }).click();
  await note.getByText('With hay').waitFor();
  assert.equal(await page.getByLabel('Comment', { exact: true }).inputValue(), 'And water');
  await note.getByRole('link', { name: 'Edit the comment' }).click();
  await visitor.arriving(() => note.getByRole('button', { name: 'Delete the comment' }).click());
  const shown = await visitor.text();
  assert.ok(shown.includes('With leaves') && !shown.includes('With hay'));
});
