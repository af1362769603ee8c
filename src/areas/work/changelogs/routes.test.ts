import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileUrl, filledWorld, headOf } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import type { World } from '../../../../test/support/world.ts';

const date = '2026-01-05T00:00:00Z';

async function commit({ as, project }: World, message: string, by: 'maintainer' | 'admin' = 'maintainer') {
  const actions = [{ action: 'create', file_path: `${message.length}-${message.slice(0, 9)}-${by}.txt`, content: 'a' }];
  const given = { branch: 'main', commit_message: message, actions };
  return sent(as(by).post(`/projects/${project.id}/repository/commits`, given));
}

/** A project with a tag, and two changes since. */
async function changed() {
  const here = await filledWorld();
  const { as, project } = here;
  await sent(as('maintainer').post(`/projects/${project.id}/repository/tags`, { tag_name: 'v1.0.0', ref: 'main' }));
  const added = await commit(here, 'Add rows\n\nChangelog: added');
  await commit(here, 'Say nothing');
  const fixed = await commit(here, 'Mend the fence\n\nChangelog: fixed', 'admin');
  return { here, url: `/projects/${project.id}/repository/changelog`, added, fixed };
}

test('a section has the changes since the last version by category, and names authors from outside', async () => {
  const { here, url, added, fixed } = await changed();
  const { as, people } = here;
  const { body, status } = await as('reporter').get(url, { version: 'v1.1.0', date });
  const lines = [
    '## 1.1.0 (2026-01-05)',
    '',
    '### fixed (1 change)',
    '',
    `- [Mend the fence](${fixed.web_url}) by @${people.admin.username}`,
    '',
    '### added (1 change)',
    '',
    `- [Add rows](${added.web_url})`,
    '',
  ];
  assert.deepEqual([status, body], [200, { notes: lines.join('\n') }]);
  const none = await as('reporter').get(url, { version: '1.1.0', date, trailer: 'Other' });
  assert.equal(none.body.notes, '## 1.1.0 (2026-01-05)\n\nNo changes.\n');
  const from = await as('reporter').get(url, { version: '1.1.0', date, from: added.id });
  assert.doesNotMatch(from.body.notes, /Add rows/);
});

test('a section is committed to the right place in the file, by users who may push', async () => {
  const { here, url } = await changed();
  const { as, project } = here;
  const done = await as('maintainer').post(url, { version: '1.1.0', date });
  assert.deepEqual([done.status, done.body], [200, null]);
  const text = async () => (await as('reporter').get(`${fileUrl(project, 'CHANGELOG.md')}/raw`, { ref: 'main' })).body;
  assert.match(String(await text()), /^## 1\.1\.0 \(2026-01-05\)\n\n### fixed/);
  const commits = await as('reporter').get(`/projects/${project.id}/repository/commits`);
  assert.equal(commits.body[0].title, 'Add changelog for version 1.1.0');
  await sent(as('maintainer').post(`/projects/${project.id}/repository/tags`, { tag_name: 'v1.1.0', ref: 'main' }));
  assert.equal((await as('maintainer').post(url, { version: '1.2.0', date, message: 'Log it' })).status, 200);
  assert.match(String(await text()), /^## 1\.2\.0[\s\S]*No changes\.[\s\S]*## 1\.1\.0/);

  const before = await headOf(here);
  const refused = await as('developer').post(url, { version: '1.3.0' });
  const refusal = '403 Forbidden - You are not allowed to commit a changelog on this branch';
  assert.deepEqual([refused.status, refused.body.message], [403, refusal]);
  assert.equal((await as('guest').get(url, { version: '1.3.0' })).status, 403);
  assert.equal(await headOf(here), before);
});

test('settings in the repository name categories, dates and templates', async () => {
  const { here, url } = await changed();
  const { as, project } = here;
  const settings = async (content: string) => {
    const file = fileUrl(project, '.gitlab/changelog_config.yml');
    const given = { branch: 'main', commit_message: 'Set', content };
    const written = await as('maintainer').put(file, given);
    if (written.status !== 200) await sent(as('maintainer').post(file, given));
    return as('reporter').get(url, { version: '1.1.0', date });
  };
  const short = '{% each categories %}\n{{ title }}: {% each entries %}\n{{ title }}{% end %}{% end %}';
  const yaml = `date_format: "%d %b"\ncategories:\n  added: Features\ntemplate: ${JSON.stringify(short)}\n`;
  assert.equal((await settings(yaml)).body.notes, '## 1.1.0 (05 Jan)\n\nfixed: Mend the fenceFeatures: Add rows\n');
  for (const wrong of [
    'template: "{% if a %}"',
    'template: "{{ version"',
    'categories: [a]',
    'a: &x b',
    'tag_regex: "("',
  ]) {
    const refused = await settings(wrong);
    assert.equal(refused.status, 422, wrong);
    assert.match(refused.body.message, /^Failed to generate the changelog: /);
  }
});

test('an invalid version, and a range without a start, are refused', async () => {
  const { here, url } = await changed();
  const { as } = here;
  assert.equal((await as('reporter').get(url)).body.message, 'version is missing');
  for (const version of ['1.0', 'x', '1.0.0.0', '1.0.0\n', 'vv1.0.0', '1.0.0-01', '']) {
    const refused = await as('reporter').get(url, { version });
    assert.deepEqual([refused.status, refused.body.message], [400, 'version is invalid'], version);
  }
  const lost = await as('reporter').get(url, { version: '0.1.0' });
  const text =
    'Failed to generate the changelog: The commit start range is unspecified, and no previous tag could be found to use instead';
  assert.deepEqual([lost.status, lost.body.message], [422, text]);
  assert.equal((await as('reporter').get(url, { version: '1.1.0', to: 'nowhere' })).status, 404);
});
