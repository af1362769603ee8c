/** The conflicts of a merge request are shown with both texts, and resolved in a form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepareMergeRequest } from '../../src/areas/work/merge_requests/index.ts';
import { browserOf, fieldsIn } from '../support/browser.ts';
import { performQueued } from '../support/jobs.ts';
import { filledWorld } from '../support/repository.ts';
import { sent } from '../support/sent.ts';
import type { World } from '../support/world.ts';

type Action = { action: string; file_path: string; content?: string };

const commit = ({ as, project }: World, branch: string, actions: readonly Action[]) =>
  sent(
    as('maintainer').post(`/projects/${project.id}/repository/commits`, { branch, commit_message: 'Change', actions }),
  );

/** A merge request whose branches change the same files, and a browser of a developer at its conflicts. */
async function conflicting(main: readonly Action[], side: readonly Action[]) {
  const here = await filledWorld();
  await commit(here, 'main', [
    { action: 'create', file_path: 'a.txt', content: 'top\none\nend\n' },
    { action: 'create', file_path: 'b.txt', content: 'two\n' },
  ]);
  const { project, as } = here;
  await sent(as('maintainer').post(`/projects/${project.id}/repository/branches`, { branch: 'side', ref: 'main' }));
  await commit(here, 'main', main);
  await commit(here, 'side', side);
  const proposed = { title: 'Side', source_branch: 'side', target_branch: 'main' };
  const { iid } = await sent(as('developer').post(`/projects/${project.id}/merge_requests`, proposed));
  const page = `/${project.full_path}/-/merge_requests/${iid}`;
  return { here, page, browser: await browserOf(here, here.people.developer) };
}

const update = (file_path: string, content: string): Action => ({ action: 'update', file_path, content });

const textOf = async ({ as, project }: World, path: string): Promise<string> => {
  const file = await sent(as('owner').get(`/projects/${project.id}/repository/files/${path}`, { ref: 'side' }));
  return Buffer.from(file.content, 'base64').toString();
};

test('conflicts are resolved in a form, file by file', async () => {
  const { here, page, browser } = await conflicting(
    [
      update('a.txt', 'top\nof main\nend\n'),
      update('b.txt', 'main\n'),
      { action: 'create', file_path: 'c.txt', content: 'new' },
    ],
    [update('a.txt', 'top\nof <side>\nend\n'), update('b.txt', 'side\n')],
  );
  await performQueued(here.services, [prepareMergeRequest]);
  assert.ok((await browser.get(page)).html.includes(`href="${page}/conflicts"`));
  const { html } = await browser.get(`${page}/conflicts`);
  const fields = fieldsIn(html, 'resolve');
  assert.deepEqual(fields.content_0, ['top\n<<<<<<< side\nof <side>\n=======\nof main\n>>>>>>> main\nend\n']);
  const unresolved = await browser.send(`${page}/conflicts`, 'resolve', fields);
  assert.equal(unresolved.status, 400);
  assert.match(unresolved.html, /These files still have conflicts: a\.txt, b\.txt/);
  const resolved = { ...fields, content_0: 'top\r\nof both\r\nend\r\n', take_1: 'target' };
  assert.equal((await browser.send(`${page}/conflicts`, 'resolve', resolved)).to, page);
  assert.deepEqual([await textOf(here, 'a.txt'), await textOf(here, 'b.txt')], ['top\nof both\nend\n', 'main\n']);
  assert.equal(await textOf(here, 'c.txt'), 'new');
  const [{ title, parent_ids }] = await sent(
    here.as('owner').get(`/projects/${here.project.id}/repository/commits`, { ref_name: 'side', per_page: 1 }),
  );
  assert.deepEqual([title, parent_ids.length], ["Merge branch 'main' into 'side'", 2]);
  assert.match((await browser.get(`${page}/conflicts`)).html, /There are no conflicts/);
});

test('what has moved meanwhile is shown again, and who may not push cannot resolve', async () => {
  const { here, page, browser } = await conflicting([update('a.txt', 'main\n')], [update('a.txt', 'side\n')]);
  const fields = fieldsIn((await browser.get(`${page}/conflicts`)).html, 'resolve');
  await commit(here, 'main', [update('a.txt', 'main again\n')]);
  const moved = await browser.send(`${page}/conflicts`, 'resolve', { ...fields, content_0: 'both\n' });
  assert.equal(moved.status, 409);
  const again = fieldsIn(moved.html, 'resolve');
  assert.deepEqual(again.content_0, ['both\n']);
  const reporter = await browserOf(here, here.people.reporter);
  assert.equal((await reporter.send(`${page}/conflicts`, 'resolve', again)).status, 403);
  assert.equal((await browser.send(`${page}/conflicts`, 'resolve', again)).to, page);
  assert.equal(await textOf(here, 'a.txt'), 'both\n');
});

test('what is gone on one side is left to git', async () => {
  const { page, browser } = await conflicting([{ action: 'delete', file_path: 'a.txt' }], [update('a.txt', 'side\n')]);
  const { html } = await browser.get(`${page}/conflicts`);
  assert.match(html, /a\.txt <span class="soft">cannot be resolved here/);
  assert.match(html, /git merge origin\/main/);
});
