/** Feeds, as programs that follow them read them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { addMergeRequest, worldWithTopic } from '../support/merge_requests.ts';
import { sent } from '../support/sent.ts';
import type { World } from '../support/world.ts';

interface Entry {
  id: string;
  title: string;
  link: { '@_href': string };
  summary?: string;
}

/** The entries of a feed for a persona. */
async function entriesOf({ url }: World, path: string, token?: string): Promise<Entry[]> {
  const response = await fetch(`${url}${path}`, { headers: token === undefined ? {} : { 'private-token': token } });
  const text = await response.text();
  assert.equal(response.status, 200, `${path}: ${text}`);
  assert.equal(response.headers.get('content-type'), 'application/atom+xml; charset=utf-8');
  assert.equal(XMLValidator.validate(text), true, text);
  const { feed } = new XMLParser({
    ignoreAttributes: false,
    isArray: (name) => name === 'entry',
    parseTagValue: false,
  }).parse(text);
  return feed.entry ?? [];
}

test('what a project lists is followed as feeds, whose links lead to its pages', async () => {
  const here = await worldWithTopic();
  await addMergeRequest(here);
  const { as, project, people } = here;
  const { url } = here.services;
  const at = `/projects/${project.id}`;
  const title = 'Apples & <pears> \u0007\ufffe';
  await sent(as('developer').post(`${at}/issues`, { title, description: 'Dig.', labels: 'ripe' }));
  await sent(as('developer').post(`${at}/issues`, { title: 'Other' }));
  await sent(as('maintainer').post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'main' }));
  await sent(as('developer').post(`${at}/releases`, { tag_name: 'v2', ref: 'main', name: 'Second' }));
  const { token } = people.developer;
  const feed = (name: string) => entriesOf(here, `/${project.full_path}/-/${name}`, token);
  const ripe = await feed('issues.atom?labels=ripe');
  assert.deepEqual(
    ripe.map((entry) => [
      entry.title.replaceAll('&amp;', '&').replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
      entry.summary,
    ]),
    [['#1 Apples & <pears>', 'Dig.']],
  );
  assert.equal(ripe[0]!.link['@_href'], `${url}/${project.full_path}/-/issues/1`);
  assert.equal((await feed('issues.atom')).length, 2);
  assert.equal((await feed('merge_requests.atom')).length, 1);
  assert.ok((await feed('commits.atom')).length > 0);
  assert.deepEqual((await feed('tags.atom')).map((entry) => entry.title).toSorted(), ['v1', 'v2']);
  assert.deepEqual(
    (await feed('releases.atom')).map((entry) => entry.title),
    ['Second'],
  );
  const activity = [
    ...(await feed('activity.atom')),
    ...(await entriesOf(here, `/users/${people.developer.username}/activity.atom`, token)),
  ];
  assert.ok(activity.some((entry) => entry.title.includes('opened issue #2 Other')));
  assert.equal(new Set((await feed('activity.atom')).map(({ id }) => id)).size, (await feed('activity.atom')).length);
  for (const { link } of activity) {
    const target = link['@_href'].replace(/#.*/, '');
    assert.equal(
      (await fetch(target.replace(url, here.url), { headers: { accept: 'text/html' }, redirect: 'manual' })).status <
        400,
      true,
      target,
    );
  }
});

test('a feed shows what its reader may see, and strangers learn nothing of a private project', async () => {
  const here = await worldWithTopic();
  const { project, people, as } = here;
  await sent(as('developer').post(`/projects/${project.id}/issues`, { title: 'Secret', confidential: true }));
  const path = `/${project.full_path}/-/issues.atom`;
  assert.deepEqual(await entriesOf(here, path, people.guest.token), []);
  for (const headers of [{}, { 'private-token': people.outsider.token }])
    assert.equal((await fetch(`${here.url}${path}`, { headers })).status, 404);
  assert.deepEqual(
    await entriesOf(here, `/users/${people.developer.username}/activity.atom`, people.outsider.token),
    [],
  );
});
