import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf, fieldsIn } from '../support/browser.ts';
import { fileForm } from '../support/uploads.ts';
import { world } from '../support/world.ts';

const hostile = '"><script>alert(1)</script>';

test('wikis of projects and groups are read and written', async () => {
  const here = await world();
  const browser = await browserOf(here, here.people.developer);
  const outsider = await browserOf(here, here.people.outsider);
  for (const wiki of [`/${here.project.full_path}/-/wikis`, `/groups/${here.group.full_path}/-/wikis`]) {
    assert.equal((await browser.get(wiki)).to, `${wiki}/pages`);
    const fields = {
      ...fieldsIn((await browser.get(`${wiki}/new`)).html, 'create'),
      title: 'Guide/First steps',
      content: `**Dig** ${hostile}`,
    };
    const refused = await browser.send(`${wiki}/new`, 'create', { ...fields, title: '' });
    assert.equal(refused.status, 400);
    assert.deepEqual(fieldsIn(refused.html, 'create').content, [fields.content]);
    const { to } = await browser.send(`${wiki}/new`, 'create', fields);
    assert.equal(to, `${wiki}/Guide/First-steps`);
    const { html } = await browser.get(to!);
    assert.ok(html.includes('<strong>Dig</strong>') && !html.includes('<script>alert'));
    const edited = { ...fieldsIn((await browser.get(`${to}/edit`)).html, 'change'), content: 'Rest' };
    assert.equal((await browser.send(`${to}/edit`, 'change', edited)).to, to);
    assert.match((await browser.get(to!)).html, /Rest/);
    const late = await browser.send(`${to}/edit`, 'change', { ...edited, content: 'Dig deeper' });
    assert.equal(late.status, 409);
    assert.match(late.html, /The text as it is now<\/summary><pre>Rest/);
    const again = fieldsIn(late.html, 'change');
    assert.deepEqual(again.content, ['Dig deeper']);
    assert.equal((await browser.send(`${to}/edit`, 'change', again)).to, to);

    const history = (await browser.get(`${to}/history`)).html;
    const versions = [...history.matchAll(/href="([^"]*\?version=[^"]*)"/g)].map(([, address]) => address!);
    assert.equal(versions.length, 3);
    assert.match((await browser.get(versions[1]!)).html, /Rest/);
    const [, changes] = /href="([^"]*\/diff\?version_id=[^"]*)"/.exec(history)!;
    const diff = (await browser.get(changes!)).html;
    assert.ok(
      diff.includes('<tr class="removed"><td>1<td><td>Rest') &&
        diff.includes('<tr class="added"><td><td>1<td>Dig deeper'),
    );
    assert.equal((await browser.get(`${to}/diff?version_id=${'0'.repeat(40)}`)).status, 404);
    assert.equal((await outsider.get(`${to}/history`)).status, 404);
    assert.match((await browser.get(`${wiki}/Missing`)).html, /There is no such page yet/);
    assert.equal((await outsider.get(to!)).html, (await outsider.get('/nobody/nothing/-/wikis/x')).html);
  }
});

test('a page of a wiki shows its attachments, and may be called as one of our own addresses', async () => {
  const here = await world();
  const developer = here.as('developer');
  const browser = await browserOf(here, here.people.developer);
  const outsider = await browserOf(here, here.people.outsider);
  for (const [base, wiki] of [
    [`/projects/${here.project.id}/wikis`, `/${here.project.full_path}/-/wikis`],
    [`/groups/${here.group.id}/wikis`, `/groups/${here.group.full_path}/-/wikis`],
  ] as const) {
    const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
    const { link } = (await developer.post(`${base}/attachments`, undefined, { raw: fileForm('tree.png', png) })).body;
    await developer.post(base, {
      title: 'Home',
      content: `${link.markdown} [[new]] [[pages]] [n](/new) ![r](${link.url})`,
    });
    assert.equal((await browser.get(wiki)).to, `${wiki}/Home`);
    const { html } = await browser.get(`${wiki}/Home`);
    const [, source = ''] = /<img src="([^"]*)"/.exec(html)!;
    const picture = new URL(source).pathname;
    const shown = await browser.get(picture, { accept: 'image/*' });
    assert.deepEqual([shown.status, shown.headers.get('content-type')], [200, 'image/png'], picture + shown.html);
    assert.equal((await outsider.get(picture)).status, 404);
    assert.equal((await browser.get(`${wiki}/raw/Home.md`)).status, 200);
    assert.deepEqual(
      [...html.matchAll(/href="[^"]*\/-\/wikis(\/%[^"]*)"/g)].map(([, path]) => path),
      ['/%6eew', '/%70ages', '/%6eew'],
    );
    for (const [title, address] of [
      ['new', '%6eew'],
      ['pages', '%70ages'],
      ['x/edit', 'x/%65dit'],
      ['uploads/a/b', '%75ploads/a/b'],
    ] as const) {
      const fields = {
        ...fieldsIn((await browser.get(`${wiki}/new`)).html, 'create'),
        title,
        content: `This is ${title}`,
      };
      assert.equal((await browser.send(`${wiki}/new`, 'create', fields)).to, `${wiki}/${address}`);
      assert.ok((await browser.get(`${wiki}/${address}`)).html.includes(`This is ${title}`));
      assert.ok((await browser.get(`${wiki}/${address}/edit`)).html.includes(`This is ${title}`));
    }
  }
});
