/** git with the wikis of projects and groups, over HTTP and SSH: what is pushed is what the API shows. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { remoteOf } from '../support/git.ts';
import { changePlan } from '../support/licenses.ts';
import { sshFor, withKey } from '../support/ssh.ts';
import { type Persona, type World, world } from '../support/world.ts';
import { begin, clone, refusedClone } from './work_tree.ts';

const placesOf = ({ project, group }: World) => [
  { base: `/projects/${project.id}/wikis`, at: `${project.full_path}.wiki` },
  { base: `/groups/${group.id}/wikis`, at: `${group.full_path}.wiki` },
];

const remoteFor = ({ url, people }: World, at: string, persona?: Persona) =>
  remoteOf(url, at, persona && people[persona].token);

const slugsIn = async (here: World, base: string) =>
  (await here.as('guest').get(base)).body.map(({ slug }: { slug: string }) => slug);

const rest = (here: World) => here.db.selectFrom('reference_updates').selectAll().execute();

test('pages that the API has written are cloned, and pages that are pushed are read', async () => {
  const here = await world();
  for (const { base, at } of placesOf(here)) {
    await here.as('developer').post(base, { title: 'guide/First steps', content: 'one\n' });
    const work = await clone(remoteFor(here, at, 'developer'));
    assert.equal(await readFile(path.join(work.folder, 'guide/First-steps.md'), 'utf8'), 'one\n');
    await work.git('mv', 'guide/First-steps.md', 'Home.adoc');
    await work.commit('with blanks.md', 'two\n');
    await work.commit('a.org', 'org\n');
    await work.commit('a.mkd', 'mkd\n');
    await work.commit('picture.png', Buffer.from([0, 255]));
    await work.git('push', '-q', 'origin', 'main');
    assert.deepEqual(await slugsIn(here, base), ['Home', 'a', 'a', 'with blanks']);
    const { body } = await here.as('guest').get(`${base}/with%20blanks`);
    assert.deepEqual([body.content, body.title], ['two\n', 'with blanks']);
    // `[[with blanks]]` leads to the slug that a page with this title has.
    assert.equal((await here.as('guest').get(`${base}/with-blanks`)).body.content, 'two\n');
    assert.equal((await here.as('guest').get(`${base}/home`)).body.slug, 'Home');
    const again = await here.as('developer').post(base, { title: 'with blanks', content: 'three' });
    assert.equal(again.status, 400);
    assert.equal((await here.as('guest').get(`${base}/a`)).body.content, 'mkd\n');
    assert.equal((await here.as('maintainer').delete(`${base}/a`)).status, 204);
    assert.equal((await here.as('guest').get(`${base}/a`)).body.content, 'org\n');
    await work.git('pull', '-q', '--ff-only');
    assert.equal(await work.git('ls-files'), 'Home.adoc\na.org\npicture.png\nwith blanks.md');
  }
  assert.deepEqual(await rest(here), []);
});

test('a wiki begins with the first push, whose branch becomes the default one', async () => {
  const here = await world();
  for (const { base, at } of placesOf(here)) {
    const missing = /A repository for this wiki does not exist yet\.|not found/;
    assert.match(await refusedClone(remoteFor(here, at, 'developer')), missing);
    const work = await begin(remoteFor(here, at, 'developer'), 'master');
    await work.commit('Home.md', 'one\n');
    await work.git('push', '-q', 'origin', 'master');
    assert.deepEqual(await slugsIn(here, base), ['Home']);
    const cloned = await clone(remoteFor(here, at, 'guest'));
    assert.equal(await cloned.git('symbolic-ref', 'HEAD'), 'refs/heads/master');
    assert.equal((await here.as('developer').post(base, { title: 'Next', content: 'two' })).status, 201);
    await work.git('push', '-q', 'origin', 'master:other');
    assert.deepEqual(await slugsIn(here, base), ['Home', 'Next']);
    const text = await work.refused('push', 'origin', ':master');
    assert.match(text, /GitLab: The default branch of a wiki cannot be deleted\./);
    await work.git('push', '-q', 'origin', ':other');
    assert.deepEqual(await slugsIn(here, base), ['Home', 'Next']);
  }
  assert.deepEqual(await rest(here), []);
});

test('names that no page can have are files', async () => {
  const here = await world();
  const [{ base, at } = { base: '', at: '' }] = placesOf(here);
  const work = await begin(remoteFor(here, at, 'developer'), 'main');
  await work.commit('é.md', 'kept');
  const id = await work.git('hash-object', '-w', 'é.md');
  for (const name of ['120000,link.md', '100644,.md', '100644,a\nb.md']) {
    const [mode, file] = name.split(',');
    await work.git('update-index', '--add', '--cacheinfo', `${mode},${id},${file}`);
  }
  // A name that is not UTF-8, which no argument can be.
  const put = `!printf '100644 ${id}\\t\\351.md\\n' | git update-index --index-info`;
  await work.git('-c', `alias.put=${put}`, 'put');
  assert.equal((await work.git('ls-files')).split('\n').length, 5);
  await work.git('commit', '-q', '-m', 'Names');
  await work.git('push', '-q', 'origin', 'main');
  assert.deepEqual(await slugsIn(here, base), ['a\nb', 'é']);
  for (const slug of ['link', '', '\ufffd'])
    assert.notEqual((await here.as('guest').get(`${base}/${encodeURIComponent(slug)}`)).body?.slug, slug);
  assert.equal((await here.as('guest').get(`${base}/a%0Ab`)).body.content, 'kept');
});

test('a large page is read a few times a minute, and listed without its content', async () => {
  const here = await world();
  const [{ base, at } = { base: '', at: '' }] = placesOf(here);
  const work = await begin(remoteFor(here, at, 'developer'), 'main');
  await work.commit('large.md', '---\ntitle: Much\n---\n'.padEnd(10 * 1024 * 1024 + 1, 'x'));
  // Its characters do not begin where pieces do.
  const less = '---\ntitle: Less\n---\n'.padEnd(700_000, '漢');
  await work.commit('other.md', less);
  await work.git('push', '-q', 'origin', 'main');
  const { body: listed } = await here.as('guest').get(base, { with_content: true });
  assert.deepEqual(
    listed.map(({ title, content }: { title: string; content?: string }) => [title, content]),
    [
      ['Much', undefined],
      ['Less', less],
    ],
  );
  for (let count = 0; count < 5; count++)
    assert.equal((await here.as('guest').get(`${base}/large`)).body.content.length, 10 * 1024 * 1024 + 1);
  const { status, body } = await here.as('guest').get(`${base}/large`);
  assert.equal(status, 429);
  assert.match(body.message, /over the threshold size of 10485760\.\nAccess this blob using 'git clone'/);
  assert.equal((await here.as('maintainer').delete(`${base}/large`)).status, 204);
});

test('only the size limit of the push rule applies to wikis', async () => {
  const here = await world();
  const [{ base, at } = { base: '', at: '' }] = placesOf(here);
  const rule = {
    max_file_size: 1,
    commit_message_regex: '^never$',
    file_name_regex: 'md$',
    branch_name_regex: '^never$',
  };
  assert.equal((await here.as('maintainer').post(`/projects/${here.project.id}/push_rule`, rule)).status, 201);
  const work = await begin(remoteFor(here, at, 'developer'), 'main');
  await work.commit('Home.md', 'one\n');
  await work.git('push', '-q', 'origin', 'main');
  await work.commit('large.md', Buffer.alloc(1024 * 1024 + 1, 'a'));
  const text = /File "large\.md" is larger than the allowed size of 1 MB\./;
  assert.match(await work.refused('push', 'origin', 'main'), text);
  const posted = await here.as('developer').post(base, { title: 'large', content: 'a'.repeat(1024 * 1024 + 1) });
  assert.deepEqual([posted.status, text.test(posted.body.message)], [400, true]);
  assert.deepEqual(await slugsIn(here, base), ['Home']);
  assert.deepEqual(await rest(here), []);
});

test('git has the access that the API gives', async () => {
  const here = await world();
  const { db, project, group } = here;
  const hidden = /could not be found or you don't have permission/;
  const login = /could not read Username|Authentication failed/;
  for (const { base, at } of placesOf(here)) {
    await here.as('developer').post(base, { title: 'Home', content: 'one' });
    assert.match(await refusedClone(remoteFor(here, at, 'outsider')), hidden);
    assert.match(await refusedClone(remoteFor(here, at)), login);
    const work = await clone(remoteFor(here, at, 'reporter'));
    await work.commit('a.md', 'a');
    assert.match(await work.refused('push', 'origin', 'main'), /You are not allowed to push to this wiki\.|403/);
  }
  await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', group.id).execute();
  await db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();
  for (const { at } of placesOf(here)) await clone(remoteFor(here, at));
  const level = { wiki_access_level: 'private' };
  await db.updateTable('namespaces').set(level).where('id', '=', group.id).execute();
  await db.updateTable('projects').set(level).where('id', '=', project.id).execute();
  for (const { at } of placesOf(here)) {
    assert.match(await refusedClone(remoteFor(here, at)), login);
    assert.match(await refusedClone(remoteFor(here, at, 'outsider')), /You are not allowed to read this wiki\.|403/);
    await clone(remoteFor(here, at, 'guest'));
  }
  const given = { name: 'build', scopes: ['read_repository'] };
  const { body } = await here.as('maintainer').post(`/projects/${project.id}/deploy_tokens`, given);
  const remote = new URL(remoteFor(here, `${project.full_path}.wiki`));
  Object.assign(remote, { username: body.username, password: body.token });
  assert.match(await refusedClone(remote.href), /The authentication mechanism is not supported\.|403/);
});

test('a wiki follows its project and its group to other paths, and goes with them', async () => {
  const here = await world();
  const { project, group, db } = here;
  const [ofProject, ofGroup] = placesOf(here);
  for (const { base } of [ofProject!, ofGroup!])
    await here.as('developer').post(base, { title: 'Home', content: 'one' });
  await here.as('owner').put(`/projects/${project.id}`, { path: 'moved' });
  await here.as('owner').put(`/groups/${group.id}`, { path: `${group.path}-moved` });
  const path = `${group.path}-moved`;
  for (const at of [`${path}/moved.wiki`, `${path}.wiki`]) {
    const work = await clone(remoteFor(here, at, 'developer'));
    await work.commit('Next.md', 'two');
    await work.git('push', '-q', 'origin', 'main');
  }
  for (const { at, base } of [ofProject!, ofGroup!]) {
    await clone(remoteFor(here, at, 'guest'), '-c', 'http.followRedirects=true');
    assert.deepEqual(await slugsIn(here, base), ['Home', 'Next']);
  }
  const wikis = await db.selectFrom('wikis').select('id').where('project_id', '=', project.id).execute();
  await db.deleteFrom('projects').where('id', '=', project.id).execute();
  const unused = db.selectFrom('unused_repositories').select('id').where('kind', '=', 'wiki');
  assert.deepEqual(
    await unused
      .where(
        'id',
        'in',
        wikis.map(({ id }) => id),
      )
      .execute(),
    wikis,
  );
});

test('a project whose path ends like that of a wiki is the one that is cloned', async () => {
  const here = await world();
  const { project, group, db } = here;
  const added = await here
    .as('owner')
    .post('/projects', { path: 'lone.wiki', namespace_id: group.id, initialize_with_readme: true });
  assert.equal(added.status, 201);
  // As an earlier version allowed.
  await db
    .updateTable('projects')
    .set({ path: 'lone', full_path: `${group.full_path}/lone` })
    .where('id', '=', project.id)
    .execute();
  const page = { title: 'Home', content: 'one' };
  assert.equal((await here.as('developer').post(`/projects/${project.id}/wikis`, page)).status, 201);
  const work = await clone(remoteFor(here, `${group.full_path}/lone.wiki`, 'developer'));
  assert.equal(await work.git('ls-files'), 'README.md');
});

test('wikis are cloned and pushed over SSH', async () => {
  const here = await world();
  const ssh = await sshFor(here);
  const [developer, guest] = [await ssh.keyOf('developer'), await ssh.keyOf('guest')];
  for (const { base, at } of placesOf(here)) {
    const first = await begin(ssh.remote(at), 'main');
    await first.commit('Home.md', 'one\n');
    await first.git(...withKey(developer.file, ssh.hostKey), 'push', '-q', 'origin', 'main');
    assert.deepEqual(await slugsIn(here, base), ['Home']);
    const work = await clone(ssh.remote(at), ...withKey(guest.file, ssh.hostKey));
    await work.commit('Next.md', 'two\n');
    const text = await work.refused(...withKey(guest.file, ssh.hostKey), 'push', 'origin', 'main');
    assert.match(text, /ERROR: You are not allowed to push to this wiki\./);
  }
});

test('on the free plan groups have no wikis, and projects do', async () => {
  const here = await world({});
  const [ofProject, ofGroup] = placesOf(here);
  for (const { base } of [ofProject!, ofGroup!])
    await here.as('developer').post(base, { title: 'Home', content: 'one' });
  await changePlan(here, 'free');
  await clone(remoteFor(here, ofProject!.at, 'developer'));
  const refused = await refusedClone(remoteFor(here, ofGroup!.at, 'developer'));
  assert.match(refused, /The wiki of a group needs the Premium plan\.|403/);
  const { status, body } = await here.as('developer').get(ofGroup!.base);
  assert.deepEqual([status, body.message], [403, '403 Forbidden - This needs the Premium plan']);
  assert.equal((await here.as('developer').get(ofProject!.base)).status, 200);
});
