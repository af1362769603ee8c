/** What users set for themselves in a browser, and what they begin there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anonymousBrowser, type Browser, browserOf, type Shown } from '../support/browser.ts';
import { elementsOf, formsIn, sentBy } from '../support/html_tree.ts';
import { newPublicKey } from '../support/public_key.ts';
import { world } from '../support/world.ts';

const reasonAt = ({ html }: Shown, id: string, field: string): string | undefined =>
  formsIn(html)
    .find((form) => form.id === id)
    ?.fields.find(({ name }) => name === field)?.reason;

const headingOf = ({ html }: Shown): string => elementsOf(html).find(({ name }) => name === 'h1')!.text;

/** Sends the first form of a page whose id begins so, as it is. */
async function sendFirst(browser: Browser, path: string, name: string): Promise<Shown> {
  const form = formsIn((await browser.get(path)).html).find(({ id }) => id.startsWith(`${name}-`))!;
  return browser.send(form.action, name, sentBy(form));
}

test('SSH keys are added, listed with their fingerprint, and deleted', async () => {
  const here = await world();
  const browser = await browserOf(here, here.people.developer);
  const path = '/-/user_settings/ssh_keys';
  assert.equal((await browser.get('/-/profile/keys')).to, path);
  const key = newPublicKey();
  const wrong = await browser.send(path, 'add', { key: 'ssh-rsa nothing', title: 'Laptop' });
  assert.equal(wrong.status, 400);
  assert.ok(reasonAt(wrong, 'add', 'key'));
  assert.equal((await browser.send(path, 'add', { key, title: 'Laptop' })).to, path);
  const again = await browser.send(path, 'add', { key, title: 'The same' });
  assert.equal(again.status, 400);
  assert.equal(reasonAt(again, 'add', 'key'), 'Public key has already been taken');
  const { html } = await browser.get(path);
  assert.match(html, /<strong>Laptop<\/strong>/);
  assert.match(html, /<code>SHA256:\S{43}<\/code>/);
  const [{ id }] = (await here.as('developer').get('/user/keys')).body;
  const stranger = await browserOf(here, here.people.outsider);
  assert.equal((await stranger.send(path, 'delete', { key_id: String(id), _key: String(id) })).status, 404);
  assert.equal((await sendFirst(browser, path, 'delete')).status, 303);
  assert.deepEqual((await here.as('developer').get('/user/keys')).body, []);
});

test('a token is shown once, works, and is rotated and revoked', async () => {
  const here = await world();
  const { developer } = here.people;
  const browser = await browserOf(here, developer);
  const path = '/-/user_settings/personal_access_tokens';
  assert.equal((await browser.get('/-/profile/personal_access_tokens')).to, path);
  const without = await browser.send(path, 'create', { name: 'robot' });
  assert.equal(reasonAt(without, 'create', 'scopes[]'), "Scopes can't be blank");
  const forbidden = await browser.send(path, 'create', { name: 'robot', 'scopes[]': ['sudo'] });
  assert.equal(reasonAt(forbidden, 'create', 'scopes[]'), 'Scopes can only contain available scopes');
  const made = await browser.send(path, 'create', { name: 'robot', 'scopes[]': ['read_api'] });
  assert.deepEqual([made.status, made.headers.get('cache-control')], [200, 'no-store']);
  const [, value] = /<code>(glpat-[^<]+)<\/code>/.exec(made.html)!;
  const usable = (token: string) =>
    fetch(`${here.url}/api/v4/user`, { headers: { 'private-token': token } }).then(({ status }) => status);
  assert.equal(await usable(value!), 200);
  assert.ok(!(await browser.get(path)).html.includes(value!), 'it is not shown again');
  const rotated = await sendFirst(browser, path, 'rotate');
  const [, next] = /<code>(glpat-[^<]+)<\/code>/.exec(rotated.html)!;
  assert.deepEqual([await usable(value!), await usable(next!)], [401, 200]);
  assert.equal((await sendFirst(browser, path, 'revoke')).status, 303);
  assert.equal(await usable(next!), 401);
  assert.match((await browser.get(`${path}?state=inactive`)).html, /<strong>robot<\/strong>/);
});

/** What a form of a page sends, with some of it changed. */
async function filledIn(browser: Browser, path: string, id: string, changes: Record<string, string>) {
  const form = formsIn((await browser.get(path)).html).find((each) => each.id === id)!;
  return browser.send(form.action, form.does[0]!, { ...sentBy(form), ...changes });
}

test('a theme is chosen, and how times are shown', async () => {
  const here = await world();
  const browser = await browserOf(here, here.people.developer);
  const preferences = '/-/profile/preferences';
  assert.match((await browser.get(preferences)).html, /<html lang="en" class="theme-auto">/);
  const looks = { theme: 'dark', tab_width: '8', keys: 'false' };
  assert.equal((await filledIn(browser, preferences, 'look', looks)).to, `${preferences}?done=look`);
  assert.match((await browser.get('/')).html, /<html lang="en" class="theme-dark tabs-8" data-keys="off">/);
  const wrong = await filledIn(browser, preferences, 'look', { theme: 'pink' });
  assert.equal(reasonAt(wrong, 'look', 'theme'), 'Theme does not have a valid value');
  const nowhere = await filledIn(browser, preferences, 'look', { time_zone: 'Orchard/North' });
  assert.equal(reasonAt(nowhere, 'look', 'time_zone'), 'Time zone is not a time zone');

  const sessions = '/-/user_settings/active_sessions';
  assert.match((await browser.get(sessions)).html, /title="[^"]+ UTC">just now</);
  await filledIn(browser, preferences, 'look', { times: 'absolute', time_zone: 'Asia/Tokyo' });
  const shown = /<time datetime="([^"]+)" title="([^"]+)">([^<]+)</.exec((await browser.get(sessions)).html)!;
  const inTokyo = new Date(Date.parse(shown[1]!) + 9 * 3_600_000).toISOString();
  assert.match(shown[3]!, new RegExp(`, ${inTokyo.slice(11, 16)}$`));
  assert.equal(shown[2], `${shown[3]} Asia/Tokyo`);
});

test('users say who they are, what they are doing, and by which name they are known', async () => {
  const here = await world();
  const { developer } = here.people;
  const browser = await browserOf(here, developer);
  const path = '/-/user_settings/profile';
  assert.equal((await browser.get('/-/profile')).to, path);
  const told = { bio: 'Grows apples', job_title: 'Gardener', private_profile: 'true', commit_email: '_private' };
  assert.equal((await filledIn(browser, path, 'profile', told)).to, `${path}?done=profile`);
  const wrong = await filledIn(browser, path, 'profile', { website_url: 'javascript:alert(1)' });
  assert.equal(reasonAt(wrong, 'profile', 'website_url'), 'Website is not a valid URL');
  await filledIn(browser, path, 'status', { message: 'In the orchard', availability: 'busy' });
  const own = (await here.as('developer').get('/user')).body;
  assert.deepEqual([own.bio, own.job_title, own.private_profile], ['Grows apples', 'Gardener', true]);
  assert.match(own.commit_email, /noreply/);
  assert.equal((await here.as('developer').get('/user/status')).body.message, 'In the orchard');
  await filledIn(browser, path, 'profile', { bio: '', job_title: '' });
  assert.equal((await here.as('developer').get('/user')).body.bio, '');
  const username = `renamed-${developer.id}`;
  await filledIn(browser, path, 'username', { username });
  assert.equal((await here.as('developer').get('/user')).body.username, username);
});

test('addresses are added, and the main one is changed by a link', async () => {
  const here = await world();
  const { developer } = here.people;
  const browser = await browserOf(here, developer);
  const path = '/-/profile/emails';
  const address = `second-${developer.id}@example.org`;
  assert.equal((await filledIn(browser, path, 'create_email', { email: address })).to, `${path}?done=create_email`);
  const again = formsIn((await browser.get(path)).html).find(({ does }) => does.includes('again_email'))!;
  assert.equal((await browser.send(path, 'again_email', sentBy(again))).to, `${path}?done=again_email`);
  const stranger = await browserOf(here, here.people.outsider);
  assert.equal((await stranger.send(path, 'again_email', sentBy(again))).status, 404);
  await sendFirst(browser, path, 'remove_email');
  const left = (await here.as('developer').get('/user/emails')).body;
  assert.equal(left.map(({ email }: { email: string }) => email).includes(address), false);
  await filledIn(browser, path, 'primary', { email: address });
  assert.notEqual((await here.as('developer').get('/user')).body.email, address);
});

test('users choose what they are told of, everywhere and in one project', async () => {
  const here = await world();
  const browser = await browserOf(here, here.people.developer);
  const path = '/-/profile/notifications';
  await filledIn(browser, path, 'notifications', { level: 'custom', new_note: 'true' });
  const settings = (await here.as('developer').get('/notification_settings')).body;
  assert.deepEqual([settings.level, settings.events.new_note, settings.events.new_issue], ['custom', true, false]);
  const place = `/${here.project.full_path}/-/notifications`;
  assert.ok((await browser.get(path)).html.includes(`href="${place}"`));
  await filledIn(browser, place, 'notifications', { level: 'watch' });
  const own = (await here.as('developer').get(`/projects/${here.project.id}/notification_settings`)).body;
  assert.equal(own.level, 'watch');
  const stranger = await browserOf(here, here.people.outsider);
  assert.equal((await stranger.get(place)).status, 404);
});

test('sessions end one by one, or all others at once', async () => {
  const here = await world();
  const { developer, outsider } = here.people;
  const current = await browserOf(here, developer);
  const path = '/-/user_settings/active_sessions';
  const signIn = async (): Promise<Browser> => {
    const browser = anonymousBrowser(here.url);
    const typed = { login: developer.username, password: 'a word that only tests pass' };
    assert.equal((await browser.send('/users/sign_in', 'sign_in', typed)).status, 303);
    return browser;
  };
  const [one, ...others] = [await signIn(), await signIn(), await signIn()];
  const ending = formsIn((await current.get(path)).html).find(({ id }) => id.startsWith('end-'))!;
  const stranger = await browserOf(here, outsider);
  await stranger.send(path, 'end', sentBy(ending));
  assert.equal((await one.get(path)).status, 200, 'nobody ends the session of another');
  assert.equal((await sendFirst(current, path, 'end')).status, 303);
  const open = async () =>
    (await Promise.all([one, ...others].map((each) => each.get(path)))).map(({ status }) => status);
  assert.deepEqual((await open()).toSorted(), [200, 200, 302]);
  assert.equal((await current.send(path, 'end_others')).status, 303);
  assert.deepEqual(await open(), [302, 302, 302]);
  assert.equal((await current.get(path)).status, 200);
});

test('groups and projects are created, and say beside the field what is wrong', async () => {
  const here = await world();
  const browser = await browserOf(here, here.people.owner);
  const { group } = here;
  const taken = await browser.send('/groups/new', 'create', { name: 'Trees', path: group.path });
  assert.equal(taken.status, 400);
  assert.equal(reasonAt(taken, 'create', 'path'), 'Path has already been taken');
  assert.match(taken.html, /role="alert">Path has already been taken</);
  const below = { name: 'Apple trees', path: 'apples', parent_id: String(group.id), visibility: 'private' };
  const made = await browser.send(`/groups/new?parent_id=${group.id}`, 'create', below);
  assert.equal(made.to, `/groups/${group.path}/apples`);
  assert.equal(headingOf(await browser.get(made.to!)), 'Apple trees');
  assert.match((await browser.get(`/groups/${group.path}`)).html, /Apple trees/);
  assert.equal((await browser.get(`/${group.path}/apples`)).to, made.to, 'the path alone leads there');

  const asked = await browser.get(`/projects/new?namespace_id=${group.id}`);
  assert.equal(headingOf(asked), 'New project');
  const filled = sentBy(formsIn(asked.html).find(({ id }) => id === 'create')!);
  assert.deepEqual(filled.namespace_id, [String(group.id)]);
  const odd = await browser.send('/projects/new', 'create', { ...filled, name: 'Pears', path: 'a b' });
  assert.equal(odd.status, 400);
  assert.ok(reasonAt(odd, 'create', 'path'));
  const project = await browser.send('/projects/new', 'create', {
    ...{ ...filled, name: 'Pears', initialize_with_readme: ['false', 'true'] },
  });
  assert.equal(project.to, `/${group.path}/pears`);
  assert.match((await browser.get(project.to!)).html, /README/);
  const again = await browser.send('/projects/new', 'create', { ...filled, name: 'Pears' });
  assert.equal(reasonAt(again, 'create', 'path'), 'Path has already been taken');
  const stranger = await browserOf(here, here.people.outsider);
  const refused = await stranger.send('/projects/new', 'create', { name: 'Mine', namespace_id: String(group.id) });
  assert.equal(refused.status, 400);
  assert.equal(reasonAt(refused, 'create', 'namespace_id'), 'Owner is not valid');
});

test('the page of a person shows what they say of themselves, and the projects that the visitor may see', async () => {
  const here = await world();
  const { owner, developer } = here.people;
  const about = { bio: 'Grows trees', job_title: 'Gardener', website_url: 'https://trees.example.com' };
  assert.equal((await here.as('admin').put(`/users/${owner.id}`, about)).status, 200);
  const own = { name: 'Own', path: 'own', visibility: 'private' };
  assert.equal((await here.as('owner').post('/projects', own)).status, 201);
  const visitor = await browserOf(here, developer);
  const shown = await visitor.get(`/${owner.username}`);
  assert.equal(shown.status, 200);
  for (const text of Object.values(about)) assert.ok(shown.html.includes(text), text);
  assert.ok(!shown.html.includes(`${owner.username}/own`));
  const themselves = await browserOf(here, owner);
  assert.ok((await themselves.get(`/${owner.username}`)).html.includes(`${owner.username}/own`));
  assert.equal((await visitor.get(`/users/${owner.username}`)).to, `/${owner.username}`);
  assert.equal((await visitor.get('/nobody-of-this-name')).status, 404);
});
