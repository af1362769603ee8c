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
