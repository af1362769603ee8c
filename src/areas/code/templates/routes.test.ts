import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../../../../test/support/browser.ts';
import { addMergeRequest, worldWithTopic } from '../../../../test/support/merge_requests.ts';
import { fileUrl, filledWorld, onMain } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import { world } from '../../../../test/support/world.ts';

test('templates for files are listed and shown to everybody', async () => {
  const { as } = await world();
  const anyone = as('anonymous');
  for (const [kind, key, part] of [
    ['gitignores', 'Node', 'node_modules'],
    ['dockerfiles', 'Python', 'FROM python'],
  ] as const) {
    const listed = await anyone.get(`/templates/${kind}`, { per_page: 100, page: kind === 'gitignores' ? 2 : 1 });
    assert.ok(
      listed.body.some((template: { key: string; name: string }) => template.key === key),
      kind,
    );
    const { status, body } = await anyone.get(`/templates/${kind}/${key.toLowerCase()}`);
    assert.deepEqual([status, body.name, body.content.includes(part)], [200, key, true]);
  }
  assert.deepEqual((await anyone.get('/templates/gitlab_ci_ymls')).body, []);
  for (const [path, message] of [
    ['gitignores/Nothing', '404 Gitignore Not Found'],
    ['gitignores/constructor', '404 Gitignore Not Found'],
    ['dockerfiles/Nothing', '404 Dockerfile Not Found'],
    ['gitlab_ci_ymls/Nothing', '404 Gitlab ci yml Not Found'],
    ['licenses/nothing', '404 License Not Found'],
  ]) {
    const missing = await anyone.get(`/templates/${path}`);
    assert.deepEqual([missing.status, missing.body.message], [404, message]);
  }
});

test('licenses are shown with their facts, and filled in with the names of the request', async () => {
  const { as, people } = await world();
  const year = String(new Date().getUTCFullYear());
  const { body } = await as('anonymous').get('/templates/licenses/mit');
  const { content, ...rest } = body;
  assert.deepEqual(rest, {
    key: 'mit',
    name: 'MIT License',
    nickname: null,
    popular: true,
    featured: true,
    html_url: 'https://spdx.org/licenses/MIT.html',
    source_url: 'https://opensource.org/license/mit/',
    description: null,
    conditions: ['include-copyright'],
    permissions: ['commercial-use', 'modifications', 'distribution', 'private-use'],
    limitations: ['liability', 'warranty'],
  });
  assert.match(content, new RegExp(`Copyright \\(c\\) ${year} \\[fullname\\]`));
  assert.ok(
    (await as('guest').get('/templates/licenses/mit')).body.content.includes(
      `${year} ${people.guest.username.replace('-', ' ')}`,
    ),
  );
  const given = { fullname: '$& Ash', project: 'Orchard' };
  assert.ok((await as('guest').get('/templates/licenses/MIT', given)).body.content.includes(`${year} $& Ash`));
  const gpl = (await as('guest').get('/templates/licenses/gpl-3.0-only', given)).body;
  assert.deepEqual([gpl.nickname, gpl.conditions.includes('same-license')], ['GNU GPLv3', true]);
  const popular = (await as('anonymous').get('/templates/licenses', { popular: true, per_page: 100 })).body;
  assert.ok(popular.length >= 25 && popular.every((license: { popular: boolean }) => license.popular));
  const all = await as('anonymous').get('/templates/licenses', { per_page: 100 });
  assert.equal(all.body.length, 100);
});

test('a project shows its own templates to users who may read its code', async () => {
  const here = await filledWorld();
  const { as, project } = here;
  const url = `/projects/${project.id}/templates`;
  const put = (file: string, content: string) =>
    sent(as('maintainer').post(fileUrl(project, file), { ...onMain, content }));
  await put('.gitlab/issue_templates/Bug.md', 'What happened?');
  await put('.gitlab/issue_templates/notes.txt', 'no');
  await put('.gitlab/issue_templates/Bug.old.md', 'no');
  await put('.gitlab/merge_request_templates/Change.md', 'Why?');
  assert.deepEqual((await as('reporter').get(`${url}/issues`)).body, [{ key: 'Bug', name: 'Bug' }]);
  assert.deepEqual((await as('reporter').get(`${url}/issues/Bug`)).body, { name: 'Bug', content: 'What happened?' });
  assert.deepEqual((await as('reporter').get(`${url}/merge_requests/Change`)).body, {
    name: 'Change',
    content: 'Why?',
  });
  assert.deepEqual((await as('guest').get(`${url}/issues`)).body, []);
  for (const name of ['Bug.md', 'Bug.old', '..%2Fmerge_request_templates%2FChange', 'notes', 'a+b']) {
    const refused = await as('reporter').get(`${url}/issues/${name}`);
    assert.deepEqual([refused.status, refused.body.message], [404, '404 Template Not Found'], name);
  }
  assert.equal((await as('guest').get(`${url}/issues/Bug`)).status, 404);
  assert.ok((await as('guest').get(`${url}/licenses`, { per_page: 100 })).body.length === 100);
  assert.equal((await as('guest').get(`${url}/licenses/mit`)).body.key, 'mit');
  assert.equal((await as('guest').get(`${url}/gitignores/Node`)).body.name, 'Node');
  const wrong = await as('guest').get(`${url}/other`);
  assert.deepEqual([wrong.status, wrong.body.message], [400, 'type does not have a valid value']);
});

test('pages offer the default template, before it the template set in the project, and any template named in the URL', async () => {
  const here = await worldWithTopic();
  const { as, project, people } = here;
  const put = (file: string, content: string) =>
    sent(as('maintainer').post(fileUrl(project, file), { ...onMain, content }));
  await put('.gitlab/issue_templates/Default.md', 'Tell us more.');
  await put('.gitlab/issue_templates/Bug.md', 'What happened?');
  await put('.gitlab/merge_request_templates/Default.md', 'Why this change?');
  const browser = await browserOf(here, people.developer);
  const address = `/${project.full_path}/-/issues/new`;
  assert.match((await browser.get(address)).html, />\s*Tell us more\.<\/textarea>/);
  assert.match((await browser.get(`${address}?issuable_template=Bug`)).html, />\s*What happened\?<\/textarea>/);
  const compared = `/${project.full_path}/-/merge_requests/new?merge_request%5Bsource_branch%5D=topic`;
  assert.match((await browser.get(compared)).html, />\s*Why this change\?<\/textarea>/);
  const set = { issues_template: 'Set', merge_requests_template: 'Set, too' };
  await sent(as('maintainer').put(`/projects/${project.id}`, set));
  assert.match((await browser.get(address)).html, />\s*Set<\/textarea>/);
  assert.match((await browser.get(compared)).html, />\s*Set, too<\/textarea>/);
  const { description } = await addMergeRequest(here);
  assert.equal(description, null, 'the API fills in nothing');
});
