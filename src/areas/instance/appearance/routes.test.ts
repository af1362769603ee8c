import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anonymousBrowser, browserOf } from '../../../../test/support/browser.ts';
import { type World, world } from '../../../../test/support/world.ts';

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0]);
const url = '/application/appearance';

const upload = ({ as }: World, fields: Record<string, [name: string, bytes: Uint8Array<ArrayBuffer>]>) => {
  const raw = new FormData();
  for (const [field, [name, bytes]] of Object.entries(fields)) raw.append(field, new Blob([bytes]), name);
  return as('admin').put(url, {}, { raw });
};

const usual = {
  title: '',
  description: '',
  pwa_name: '',
  pwa_short_name: '',
  pwa_description: '',
  member_guidelines: '',
  new_project_guidelines: '',
  profile_image_guidelines: '',
  header_message: '',
  footer_message: '',
  message_background_color: '#E75E40',
  message_font_color: '#FFFFFF',
  email_header_and_footer_enabled: false,
};
const noPictures = { logo: null, pwa_icon: null, header_logo: null, favicon: null };

test('administrators set names, texts and colours, and pages show them', async () => {
  const here = await world({});
  const { as, people, group } = here;
  assert.deepEqual((await as('admin').get(url)).body, { ...usual, ...noPictures });
  const texts = {
    title: 'The <Orchard>',
    description: 'Trees *and* rows',
    header_message: 'Mind the ladder',
    footer_message: 'No climbing',
    message_background_color: '#123',
    new_project_guidelines: 'One project for each row',
    member_guidelines: 'Ask the keeper ![Map](https://other.example/map.png)',
    pwa_name: 'Orchard',
  };
  const changed = await as('admin').put(url, texts);
  assert.deepEqual(changed.body, { ...usual, ...noPictures, ...texts });
  const entrance = (await anonymousBrowser(here.url).get('/users/sign_in')).html;
  for (const shown of ['The &lt;Orchard&gt;', 'Trees <em>and</em> rows', 'Mind the ladder', 'No climbing'])
    assert.ok(entrance.includes(shown), shown);
  const [, address] = /href="(\/assets\/messages-[^"]+)"/.exec(entrance)!;
  assert.equal(await (await fetch(here.url + address)).text(), '.message{background:#123;color:#ffffff}');
  assert.equal((await fetch(`${here.url}/assets/messages-123-ff}.css`)).status, 404);
  const owner = await browserOf(here, people.owner);
  assert.ok((await owner.get('/projects/new')).html.includes('One project for each row'));
  assert.ok(
    (await owner.get(`/groups/${group.full_path}/-/group_members`)).html.includes(
      'Ask the keeper <img src="/-/picture/',
    ),
  );
  const manifest = await fetch(`${here.url}/-/manifest.json`);
  assert.equal(((await manifest.json()) as { name: string }).name, 'Orchard');
  for (const [persona, status] of [
    ['anonymous', 401],
    ['owner', 403],
  ] as const)
    assert.equal((await as(persona).get(url)).status, status);
});

test('pictures are shown to everybody, and only pictures are taken', async () => {
  const here = await world({});
  const set = await upload(here, { logo: ['tree 1.png', png], favicon: ['a.png', png] });
  assert.equal(set.status, 200, JSON.stringify(set.body));
  assert.equal(set.body.logo, '/uploads/-/system/appearance/logo/1/tree_1.png');
  const picture = await fetch(here.url + set.body.logo);
  assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/png']);
  assert.match(picture.headers.get('content-security-policy')!, /sandbox/);
  assert.ok((await anonymousBrowser(here.url).get('/users/sign_in')).html.includes(`src="${set.body.logo}"`));
  assert.match((await anonymousBrowser(here.url).get('/users/sign_in')).html, new RegExp(`href="${set.body.favicon}"`));

  const svg = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>');
  const refused = await upload(here, { logo: ['tree.png', svg] });
  assert.deepEqual(refused.body.message, { logo: ['is not a PNG, JPEG, GIF, WebP or ICO picture'] });
  const large = new Uint8Array(1024 * 1024 + 1);
  large.set(png);
  const tooBig = await upload(here, { header_logo: ['tree.png', large] });
  assert.deepEqual(tooBig.body.message, { header_logo: ['is too big (should be at most 1 MiB)'] });
  assert.equal((await here.as('admin').get(url)).body.logo, set.body.logo);

  assert.equal((await here.as('admin').put(url, { logo: null })).body.logo, null);
  assert.equal((await fetch(here.url + set.body.logo)).status, 404);
});

test('invalid colours and empty requests are refused', async () => {
  const { as } = await world({});
  const refused = await as('admin').put(url, { message_font_color: 'white' });
  assert.deepEqual(refused.body.message, { message_font_color: ['is not a valid color'] });
  assert.match((await as('admin').put(url)).body.message, /at least one parameter must be provided/);
});
