import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf, fieldsIn } from '../support/browser.ts';
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
    assert.match((await browser.get(`${wiki}/Missing`)).html, /There is no such page yet/);
    assert.equal((await outsider.get(to!)).html, (await outsider.get('/nobody/nothing/-/wikis/x')).html);
  }
});
