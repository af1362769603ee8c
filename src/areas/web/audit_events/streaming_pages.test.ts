import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf, fieldsIn } from '../../../../test/support/browser.ts';
import { world } from '../../../../test/support/world.ts';

test('administrators and owners say where events are sent, without JavaScript', async () => {
  const here = await world({});
  const { group, people } = here;
  for (const [persona, path] of [
    ['admin', '/admin/audit_logs/streams'],
    ['owner', `/groups/${group.full_path}/-/audit_events/streams`],
  ] as const) {
    const browser = await browserOf(here, people[persona]);
    const given = { destination_url: 'https://audit.example.com/', name: 'Archive', event_type_filters: 'a, b' };
    const added = await browser.send(path, 'create_stream', { ...given, active: 'true' });
    assert.equal(added.status, 303, added.html);
    const shown = await browser.get(path);
    assert.match(shown.html, /Archive.*audit\.example\.com.*a, b.*token <code>[\w-]{24}</s);
    const [, id] = /edit_stream=(\d+)/.exec(shown.html)!;
    const which = { [persona === 'admin' ? 'id' : 'destination_id']: id! };
    const edit = await browser.get(`${path}?edit_stream=${id}`);
    assert.match(edit.html, /value="Archive"/);
    const header = { 'custom_headers[0][key]': 'X-Orchard', 'custom_headers[0][value]': 'pears' };
    assert.equal((await browser.send(path, 'header_stream', { ...which, ...header })).status, 303);
    assert.match((await browser.get(path)).html, /X-Orchard/);
    const edited = {
      ...fieldsIn(edit.html, `edit_stream-${id}`),
      ...{ name: 'Vault', event_type_filters: '', verification_token: 'sixteen-letters-', active: 'false' },
    };
    assert.equal((await browser.send(path, 'edit_stream', { ...which, ...edited })).status, 303);
    assert.match((await browser.get(path)).html, /Vault.*not active.*All events.*sixteen-letters-/s);
    assert.equal((await browser.send(path, 'remove_stream', { ...which })).status, 303);
    assert.match((await browser.get(path)).html, /Events are sent nowhere/);
  }
  const maintainer = await browserOf(here, people.maintainer);
  assert.equal((await maintainer.get(`/groups/${group.full_path}/-/audit_events/streams`)).status, 403);
});
