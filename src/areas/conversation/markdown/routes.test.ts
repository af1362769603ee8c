import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssue } from '../../../../test/support/issues.ts';
import { world } from '../../../../test/support/world.ts';

test('Markdown is rendered as HTML, with links for references that the reader may see', async () => {
  const here = await world();
  await addIssue(here, { title: 'Seen' });
  await addIssue(here, { title: 'Hidden', confidential: true });
  const { full_path, path } = here.project;
  const { username } = here.people.owner;
  const text = `**See** #1, #2, #3, ${path}#1 and @${username}; not \`#1\`\n\n<script>alert(1)</script>`;

  const guest = await here.as('guest').post('/markdown', { text, gfm: true, project: full_path });
  assert.equal(guest.status, 201);
  const issue = `<a href="http://coppice.test/${full_path}/-/issues/1">`;
  const person = `<a href="http://coppice.test/${username}">@${username}</a>`;
  assert.equal(
    guest.body.html.trim(),
    `<p><strong>See</strong> ${issue}#1</a>, #2, #3, ${issue}${path}#1</a> and ${person}; not <code>#1</code></p>\n&lt;script&gt;alert(1)&lt;/script&gt;`,
  );
  const owner = await here.as('owner').post('/markdown', { text, gfm: true, project: full_path });
  assert.match(owner.body.html, /\/-\/issues\/2">#2<\/a>/);

  const plain = await here.as('guest').post('/markdown', { text });
  assert.doesNotMatch(plain.body.html, /<a/);
});

test('the project must be readable, and the text is required', async () => {
  const here = await world();
  const hidden = await here.as('outsider').post('/markdown', { text: 'x', gfm: true, project: here.project.full_path });
  assert.deepEqual([hidden.status, hidden.body], [404, { message: '404 Project Not Found' }]);
  assert.equal((await here.as('guest').post('/markdown', {})).body.error, 'text is missing');
  assert.equal((await here.as('anonymous').post('/markdown', { text: 'x' })).status, 401);
});

test('links and images of uploads lead to the project, and nothing else does', async () => {
  const { as, project } = await world();
  const secret = '0123456789abcdef'.repeat(2);
  const render = async (text: string, parameters = {}) =>
    (await as('guest').post('/markdown', { text, project: project.full_path, ...parameters })).body.html.trim();
  const there = `/-/project/${project.id}/uploads/${secret}`;
  for (const gfm of [true, false])
    assert.equal(
      await render(`![a $&](/uploads/${secret}/a.png) [ü.txt](/uploads/${secret}/ü.txt)`, { gfm }),
      `<p><img src="${there}/a.png" alt="a $&amp;" /> <a href="${there}/%C3%BC.txt">ü.txt</a></p>`,
    );
  assert.equal(await render(`<img src="/uploads/${secret}/a.png">`), `<img src="${there}/a.png" />`);
  for (const other of [
    `/uploads/short/a.png`,
    `/uploads/${secret}/a/b.png`,
    `/x/uploads/${secret}/a.png`,
    `uploads/${secret}/a.png`,
  ])
    assert.equal(await render(`[a](${other})`), `<p><a href="${other}">a</a></p>`);
  const { html } = (await as('guest').post('/markdown', { text: `[a](/uploads/${secret}/a.png)` })).body;
  assert.equal(html.trim(), `<p><a href="/uploads/${secret}/a.png">a</a></p>`);
});
