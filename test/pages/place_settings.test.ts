/** The settings of projects and groups, as their maintainers and owners change them in a browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sectionPages } from '../../src/areas/web/house/map_rules.ts';
import { browserOf, fillIn } from '../support/browser.ts';
import { elementsOf, formsIn, sentBy } from '../support/html_tree.ts';
import { filledWorld } from '../support/repository.ts';
import { sent } from '../support/sent.ts';
import { world } from '../support/world.ts';

/** The links of the map beside settings. */
const mapIn = (html: string): string[] =>
  elementsOf(/<nav id="map".*?<\/nav>/s.exec(html)![0])
    .filter(({ name }) => name === 'a')
    .map(({ text }) => text);

test('a maintainer changes what a project is, and sees only the settings that are theirs', async () => {
  const { as, project, ...here } = await world();
  const at = `/${project.full_path}/-/settings`;
  const browser = await browserOf({ as, project, ...here }, here.people.maintainer);
  const general = await fillIn(browser, `${at}/general`, 'general', {
    description: 'Old trees',
    topics: 'fruit, wood',
  });
  assert.deepEqual([general.status, general.to], [303, `${at}/general?done=general`]);
  const shown = await browser.get(general.to!);
  assert.match(shown.html, /role="status">Saved\./);
  assert.ok(mapIn(shown.html).includes('Variables') && !mapIn(shown.html).includes('Transfer, archive, delete'));
  assert.match(shown.html, /aria-current="[a-z]+">.{0,300}Settings<\/a>/);
  const { body } = await as('maintainer').get(`/projects/${project.id}`);
  assert.deepEqual([body.description, body.topics], ['Old trees', ['fruit', 'wood']]);
  await fillIn(browser, `${at}/general`, 'general', { description: '', topics: '' });
  assert.deepEqual((await as('maintainer').get(`/projects/${project.id}`)).body.topics, []);

  // Who began before someone else has changed it is told so.
  const form = formsIn((await browser.get(`${at}/features`)).html).find(({ id }) => id === 'features')!;
  await sent(as('owner').put(`/projects/${project.id}`, { wiki_access_level: 'private' }));
  const late = await browser.send(form.action, 'features', sentBy(form));
  assert.equal(late.status, 409);
  assert.equal((await as('owner').get(`/projects/${project.id}`)).body.wiki_access_level, 'private');

  const developer = await browserOf({ as, project, ...here }, here.people.developer);
  assert.equal((await developer.get(`${at}/general`)).status, 403);
  const stranger = await browserOf({ as, project, ...here }, here.people.outsider);
  assert.equal((await stranger.get(`${at}/general`)).status, 404);
});

test('items of lists are added, edited in their place, and removed', async () => {
  const { as, project, ...here } = await world();
  const browser = await browserOf({ as, project, ...here }, here.people.maintainer);
  const path = `/${project.full_path}/-/settings/ci_cd`;
  const url = `/projects/${project.id}/variables`;
  const wrong = await fillIn(browser, path, 'create_variable', { key: 'SEASON TREE', value: 'autumn' });
  assert.equal(wrong.status, 400);
  const refused = formsIn(wrong.html).find(({ id }) => id === 'create_variable')!;
  assert.ok(refused.fields.find(({ name }) => name === 'key')!.reason);
  assert.deepEqual(sentBy(refused).value, ['autumn']);
  for (const environment_scope of ['', 'orchard'])
    await fillIn(browser, path, 'create_variable', { key: 'SEASON', value: 'autumn', environment_scope });
  const { html } = await browser.get(path);
  const edit = elementsOf(html)
    .findLast(({ text }) => text.startsWith('Edit'))!
    .attributes.get('href')!;
  const form = formsIn((await browser.get(edit)).html).find(({ does }) => does.includes('edit_variable'))!;
  assert.deepEqual(sentBy(form).value, ['autumn']);
  const saved = await browser.send(form.action, 'edit_variable', { ...sentBy(form), value: 'winter' });
  assert.equal(saved.to, `${path}?done=edit_variable`);
  const values = (await as('maintainer').get(url)).body.map((each: { value: string }) => each.value);
  assert.deepEqual(values.toSorted(), ['autumn', 'winter']);
  const remove = formsIn((await browser.get(path)).html).find(({ does }) => does.includes('remove_variable'))!;
  assert.equal((await browser.send(remove.action, 'remove_variable', sentBy(remove))).status, 303);
  assert.equal((await as('maintainer').get(url)).body.length, 1);
});

test('a token of a project is shown once', async () => {
  const { as, project, ...here } = await world();
  const browser = await browserOf({ as, project, ...here }, here.people.maintainer);
  const path = `/${project.full_path}/-/settings/deploy_tokens`;
  const made = await fillIn(browser, path, 'create_token', { name: 'shed', 'scopes[]': ['read_repository'] });
  assert.deepEqual([made.status, made.headers.get('cache-control')], [200, 'no-store']);
  assert.match(made.html, /<code>gldt-/);
  const { html } = await browser.get(path);
  assert.match(html, /<strong>shed<\/strong>/);
  assert.doesNotMatch(html, /gldt-/);
});

test('push rules are tried against real commits before they are saved', async () => {
  const here = await filledWorld();
  const { as, project, people } = here;
  const browser = await browserOf(here, people.maintainer);
  const path = `/${project.full_path}/-/settings/push_rules`;
  const tried = await browser.get(`${path}?try=1&commit_message_regex=${encodeURIComponent('^nothing like this$')}`);
  assert.match(tried.html, /the newest \d+ commits would be refused/);
  const form = formsIn(tried.html).find(({ id }) => id === 'create_rule')!;
  assert.deepEqual(sentBy(form).commit_message_regex, ['^nothing like this$']);
  assert.equal((await as('maintainer').get(`/projects/${project.id}/push_rule`)).body, null);
  assert.match((await browser.get(`${path}?try=1&commit_message_regex=(`)).html, /not valid RE2 syntax/);
  const saved = await browser.send(form.action, 'create_rule', { ...sentBy(form), commit_message_regex: '.' });
  assert.equal(saved.status, 303);
  assert.equal((await as('maintainer').get(`/projects/${project.id}/push_rule`)).body.commit_message_regex, '.');
});

test('a webhook has a page with its events, its own headers, and what was sent', async () => {
  const { as, project, ...here } = await world();
  const browser = await browserOf({ as, project, ...here }, here.people.maintainer);
  const hooks = `/${project.full_path}/-/hooks`;
  const added = { url: 'https://listener.example/a', token: 'a secret', push_events: 'true' };
  assert.equal((await fillIn(browser, hooks, 'create_hook', added)).to, `${hooks}?done=create_hook`);
  const [hook] = (await as('maintainer').get(`/projects/${project.id}/hooks`)).body;
  const path = `${hooks}/${hook.id}`;
  assert.match((await browser.get(hooks)).html, new RegExp(`href="${path}"`));
  // A secret stays when its field is left empty.
  await fillIn(browser, path, 'hook', { name: 'Bell' });
  const changed = (await as('maintainer').get(`/projects/${project.id}/hooks/${hook.id}`)).body;
  assert.deepEqual([changed.name, changed.token_present], ['Bell', true]);
  await fillIn(browser, path, 'set_header', { key: 'X-Season', value: 'autumn' });
  const { html } = await browser.get(path);
  assert.match(html, /<code>X-Season<\/code>/);
  assert.match(html, /Nothing has been sent/);
});

test('an owner renames, archives and deletes a project by typing its path, and restores it', async () => {
  const { as, project, ...here } = await world();
  const browser = await browserOf({ as, project, ...here }, here.people.owner);
  const renamed = await fillIn(browser, `/${project.full_path}/-/settings/careful`, 'rename', { path: 'pears' });
  const full_path = `${project.full_path.split('/').slice(0, -1).join('/')}/pears`;
  const path = `/${full_path}/-/settings/careful`;
  assert.equal(renamed.to, path);
  await fillIn(browser, path, 'archive', {});
  assert.equal((await as('owner').get(`/projects/${project.id}`)).body.archived, true);
  await fillIn(browser, path, 'unarchive', {});
  const wrong = await fillIn(browser, path, 'delete', { typed: 'pears' });
  assert.equal(wrong.status, 400);
  assert.ok(
    formsIn(wrong.html)
      .find(({ id }) => id === 'delete')!
      .fields.find(({ name }) => name === 'typed')!.reason,
  );
  assert.equal((await as('owner').get(`/projects/${project.id}`)).body.marked_for_deletion_on, null);
  assert.equal((await fillIn(browser, path, 'delete', { typed: full_path })).status, 303);
  const marked = (await as('owner').get(`/projects/${project.id}`)).body;
  assert.notEqual(marked.marked_for_deletion_on, null);
  const after = `/${marked.path_with_namespace}/-/settings/careful`;
  assert.equal((await fillIn(browser, after, 'restore', {})).status, 303);
  assert.equal((await as('owner').get(`/projects/${project.id}`)).body.marked_for_deletion_on, null);
});

test('an owner changes a group: its features, a role of its own, and a badge', async () => {
  const { as, group, ...here } = await world();
  const browser = await browserOf({ as, group, ...here }, here.people.owner);
  const settings = `/groups/${group.full_path}/-`;
  await fillIn(browser, `${settings}/settings/features`, 'features', { project_creation_level: 'owner' });
  assert.equal((await as('owner').get(`/groups/${group.id}`)).body.project_creation_level, 'owner');
  const role = { name: 'Picker', base_access_level: '10', read_code: 'true' };
  await fillIn(browser, `${settings}/settings/roles_and_permissions`, 'create_role', role);
  assert.match((await browser.get(`${settings}/settings/roles_and_permissions`)).html, /Guest, and also: Read code/);
  const { html } = await browser.get(`${settings}/edit`);
  assert.ok(mapIn(html).includes('Seats'));
});

test('a freeze period is tried on a calendar of twelve weeks before it is saved', async () => {
  const { as, project, ...here } = await world();
  const browser = await browserOf({ as, project, ...here }, here.people.maintainer);
  const path = `/${project.full_path}/-/settings/freeze_periods`;
  const period = { freeze_start: '0 18 * * 5', freeze_end: '0 8 * * 1', cron_timezone: 'Europe/Berlin' };
  const tried = await browser.get(`${path}?${new URLSearchParams({ ...period, try: '1' })}`);
  assert.match(
    tried.html,
    /Tried, not saved[\s\S]*Frozen 1[123] times in the next 12 weeks[\s\S]*Times of Europe\/Berlin/,
  );
  assert.match(tried.html, /<td class="frozen"><time datetime="[\d-]+">[^<]+<\/time> <div>18:00–24:00<\/div>/);
  const form = formsIn(tried.html).find(({ id }) => id === 'create_period')!;
  assert.deepEqual(sentBy(form).freeze_start, ['0 18 * * 5']);
  assert.deepEqual((await as('maintainer').get(`/projects/${project.id}/freeze_periods`)).body, []);
  const wrong = await browser.get(`${path}?try=1&freeze_start=never&freeze_end=0+8+*+*+1`);
  assert.match(wrong.html, /role="status">Begins is invalid syntax/);
  await browser.send(path, 'create_period', period);
  assert.match((await browser.get(path)).html, /Calendar[\s\S]*Frozen 1[123] times/);
});

test('administrators find every page of the settings in the list beside them', async () => {
  const here = await world();
  const browser = await browserOf(here, here.people.admin);
  for (const [map, start] of [
    ['project', `/${here.project.full_path}`],
    ['group', `/groups/${here.group.full_path}`],
  ] as const) {
    const { html } = await browser.get(`${start}/-/settings/access_tokens`);
    const missing = sectionPages(map).filter(({ address }) => !html.includes(`"${start}${address}"`));
    assert.deepEqual(
      missing.map(({ label }) => label),
      [],
    );
  }
});
