/** What helps to write a text, as browsers without JavaScript get it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf, fieldsIn } from '../support/browser.ts';
import { addIssue } from '../support/issues.ts';
import { addBranch, addMergeRequest } from '../support/merge_requests.ts';
import { filledWorld } from '../support/repository.ts';
import { sent } from '../support/sent.ts';
import { world } from '../support/world.ts';

test('a text is shown as it will look, in the form in which it is written, and nothing is saved', async () => {
  const here = await world();
  const { as, project, group } = here;
  const { iid } = await addIssue(here, { title: 'Prune' });
  const browser = await browserOf(here, here.people.developer);
  const path = `/${project.full_path}/-/issues/${iid}`;
  const { html: written } = await browser.get(path);
  assert.match(written, /<textarea id="comment-body" name="body" class="writing"/);
  assert.match(written, /<button name="_preview" value="comment body" formnovalidate>Preview<\/button>/);
  const preview = async (at: string, form: string, fields: Record<string, string>) => {
    const { status, html } = await browser.send(at, form, {
      _preview: `${form} ${Object.keys(fields).at(-1)}`,
      ...fields,
    });
    assert.equal(status, 200, at);
    assert.doesNotMatch(html, /class="refusal"/);
    return html;
  };
  const shown = await preview(path, 'comment', { body: '**See** #1 <b>' });
  assert.match(
    shown,
    /<div class="text preview" id="comment-body-preview"><p><strong>See<\/strong> <a href="[^"]*\/issues\/1">#1<\/a> <b><\/b><\/p>/,
  );
  assert.deepEqual(fieldsIn(shown, 'comment').body, ['**See** #1 <b>']);
  assert.match(await preview(path, 'comment', { body: '' }), /There is nothing to show yet/);
  assert.deepEqual((await as('developer').get(`/projects/${project.id}/issues/${iid}/notes`)).body, []);

  const created = await preview(`/${project.full_path}/-/issues/new`, 'create', {
    title: 'Pick',
    description: '- [ ] a',
  });
  assert.match(created, /id="create-description-preview"><ul>\s*<li class="task">/);
  assert.deepEqual(fieldsIn(created, 'create').title, ['Pick']);
  await preview(`/groups/${group.full_path}/-/wikis/new`, 'create', { title: 'Guide', content: '*Dig*' });
  const missing = await browser.send(path, 'nothing', { _preview: 'nothing body', body: 'x' });
  assert.equal(missing.status, 404);
});

test('files are attached, and what is uploaded says how to show it', async () => {
  const here = await world();
  const browser = await browserOf(here, here.people.reporter);
  for (const place of [`/${here.project.full_path}`, `/groups/${here.group.full_path}`]) {
    const { html } = await browser.get(`${place}/-/uploads/new`);
    assert.match(html, /enctype="multipart\/form-data"/);
    const outsider = await browserOf(here, here.people.outsider);
    assert.equal((await outsider.get(`${place}/-/uploads/new`)).status, 404);
  }
});

test('references are completed by what was typed, within the rights of the reader', async () => {
  const here = await filledWorld();
  const { as, project, group, people } = here;
  const at = `/projects/${project.id}`;
  const { iid } = await addIssue(here, { title: 'Prune the <b>pear' });
  await addIssue(here, { title: 'Prune in secret', confidential: true });
  await addBranch(here, 'topic');
  await addMergeRequest(here, { source_branch: 'topic', title: 'Move the pear' });
  await sent(as('owner').post(`${at}/labels`, { name: 'needs water', color: '#112233' }));
  await sent(as('owner').post(`${at}/milestones`, { title: 'Spring' }));
  const browser = await browserOf(here, people.guest);
  const ask = async (mark: string, search: string, place = `/${project.full_path}`) => {
    const { status, html } = await browser.get(`${place}/-/suggestions?${new URLSearchParams({ mark, search })}`);
    assert.equal(status, 200);
    return [...html.matchAll(/<li><code>([^<]*)<\/code>/g)].map(([, text]) => text);
  };
  assert.deepEqual(await ask('#', 'pear'), [`#${iid}`]);
  assert.deepEqual(await ask('#', String(iid)), [`#${iid}`]);
  assert.deepEqual(await ask('#', 'secret'), []);
  assert.deepEqual(await ask('@', people.owner.username), [`@${people.owner.username}`]);
  assert.deepEqual(await ask('~', 'water'), ['~&quot;needs water&quot;']);
  assert.deepEqual(await ask('%', 'spr'), ['%Spring']);
  assert.deepEqual((await ask(':', 'tad'))[0], ':tada:');
  assert.deepEqual(await ask(':', ''), []);
  assert.deepEqual(await ask('?', 'x'), []);
  assert.deepEqual(await ask('#', 'pear', `/groups/${group.full_path}`), [`${project.full_path}#${iid}`]);
  for (const mark of ['@', '!', '~', '%']) await ask(mark, 'a', `/groups/${group.full_path}`);
  const developer = await browserOf(here, people.developer);
  assert.match(
    (await developer.get(`/${project.full_path}/-/suggestions?mark=!&search=pear`)).html,
    /<code>!1<\/code> Move the pear/,
  );
  const outsider = await browserOf(here, people.outsider);
  assert.equal((await outsider.get(`/${project.full_path}/-/suggestions?mark=:&search=tada`)).status, 404);
});
