import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetchFrom, upload } from '../../../../test/support/uploads.ts';
import { type World, world } from '../../../../test/support/world.ts';

const placeOf = ({ project }: World) => `/projects/${project.id}`;

const statusesOf = async (here: World, path: string) => {
  const asked = [undefined, 'outsider', 'guest'] as const;
  return Promise.all(asked.map(async (persona) => (await fetchFrom(here, path, persona)).status));
};

test('a link in a text leads to the file, by the id of the project and by its path, old ones too', async () => {
  const here = await world();
  const { as, project, people, url } = here;
  const { body } = await upload(here, 'guest', placeOf(here), 'grüße.png', 'pixels');
  const byPath = `/${project.full_path}${body.url}`;
  for (const path of [body.full_path, byPath]) {
    assert.deepEqual(await statusesOf(here, path), [404, 404, 200]);
    const answer = await fetchFrom(here, path, 'guest', { range: 'bytes=1-3' });
    assert.deepEqual([answer.status, await answer.text()], [206, 'ixe']);
    assert.equal(answer.headers.get('content-type'), 'image/png');
    assert.match(
      answer.headers.get('content-disposition')!,
      /^inline; filename="gr__e\.png"; filename\*=UTF-8''gr%C3%BC%C3%9Fe\.png$/,
    );
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(answer.headers.get('cache-control'), 'max-age=300, private, must-revalidate');
  }
  const inQuery = await fetch(`${url}${body.full_path}?private_token=${people.guest.token}`);
  assert.equal(inQuery.status, 404, 'tokens in addresses are shared with them');
  assert.equal((await fetchFrom(here, body.full_path.replace(/[0-9a-f]{32}/, '0'.repeat(32)), 'guest')).status, 404);
  assert.equal((await fetchFrom(here, '/-/project/0/uploads/x/%00', 'guest')).status, 404);

  await as('owner').put(placeOf(here), { path: `${project.path}-renamed` });
  assert.deepEqual(await statusesOf(here, byPath), [404, 404, 200]);
});

test('the uploads of a group are read by those who can see the group', async () => {
  const here = await world();
  const { body } = await upload(here, 'guest', `/groups/${here.group.id}`, 'a.txt', 'text');
  assert.deepEqual(await statusesOf(here, body.full_path), [404, 404, 200]);
  await here.db.updateTable('namespaces').set({ visibility: 'internal' }).where('id', '=', here.group.id).execute();
  assert.deepEqual(await statusesOf(here, body.full_path), [404, 200, 200]);
});

test('files that a browser could execute are only saved, and others are shown in a sandbox', async () => {
  const here = await world();
  const kinds: [string, string, string, string | null][] = [
    ['a.svg', 'image/svg+xml', 'attachment', null],
    ['a.html', 'text/html', 'attachment', null],
    ['a.txt', 'text/plain', 'attachment', null],
    ['a', 'application/octet-stream', 'attachment', null],
    ['a.pdf', 'application/pdf', 'attachment', null],
    ['b.PDF', 'application/pdf', 'attachment', null],
    ['a.JPG', 'image/jpeg', 'inline', 'sandbox'],
    ['a.mp4', 'video/mp4', 'inline', 'sandbox'],
    ['a.mp3', 'audio/mpeg', 'inline', 'sandbox'],
  ];
  for (const [name, type, kind, policy] of kinds) {
    const { body } = await upload(here, 'guest', placeOf(here), name, '<script>alert(1)</script>');
    const answer = await fetchFrom(here, body.full_path, 'guest');
    assert.deepEqual(
      [
        answer.headers.get('content-type'),
        answer.headers.get('content-disposition')!.split(';')[0],
        answer.headers.get('content-security-policy'),
      ],
      [type, kind, policy],
      name,
    );
  }
});

test('a project can open the images in its texts to everyone who has the address', async () => {
  const here = await world();
  const { as } = here;
  const image = (await upload(here, 'guest', placeOf(here), 'a.png')).body;
  const text = (await upload(here, 'guest', placeOf(here), 'a.txt')).body;
  const setting = 'enforce_auth_checks_on_uploads';
  assert.equal((await as('maintainer').get(placeOf(here))).body[setting], true);
  assert.equal((await as('developer').put(placeOf(here), { [setting]: false })).status, 403);
  assert.equal((await as('maintainer').put(placeOf(here), { [setting]: false })).body[setting], false);
  assert.deepEqual(await statusesOf(here, image.full_path), [200, 200, 200]);
  assert.deepEqual(await statusesOf(here, text.full_path), [404, 404, 200]);
  assert.equal((await fetchFrom(here, image.full_path.replace(/[0-9a-f]{32}/, '0'.repeat(32)))).status, 404);
  assert.equal((await as('outsider').get(`${placeOf(here)}${image.url}`)).status, 404, 'the API always checks');

  await as('owner').delete(placeOf(here));
  assert.deepEqual(await statusesOf(here, image.full_path), [404, 404, 200]);
});
