/** The TypeScript client @gitbeaker/rest: tags, and what protects tags and branches. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { gitClient, remoteOf } from '../support/git.ts';
import { filledWorld } from '../support/repository.ts';
import type { Persona, World } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

test('tags are created with and without a message, listed in every order, and deleted', async () => {
  const here = await filledWorld();
  const { id } = here.project;
  const { Tags, Branches } = clientFor(here, 'developer');
  const head = (await Branches.show(id, 'main')).commit.id;
  const light = await Tags.create(id, 'v1.10.0', 'main');
  assert.deepEqual(
    [light.name, light.target, light.message, light.protected, light.commit.id],
    ['v1.10.0', head, null, false, head],
  );
  const annotated = await Tags.create(id, 'v1.9.0', head, { message: 'The ninth\n\nAt last.' });
  assert.equal(annotated.message, 'The ninth\n\nAt last.');
  assert.notEqual(annotated.target, head);
  assert.equal(annotated.commit.id, head);
  await Tags.create(id, 'odd/50%+1 is no blank'.replaceAll(' ', '_'), 'main');
  const names = async (options: { orderBy: 'name' | 'version'; sort: 'asc' | 'desc'; search: string }) =>
    (await Tags.all(id, options)).map(({ name }) => name);
  assert.deepEqual(await names({ orderBy: 'version', sort: 'asc', search: '^v' }), ['v1.9.0', 'v1.10.0']);
  assert.deepEqual(await names({ orderBy: 'name', sort: 'desc', search: '.0$' }), ['v1.9.0', 'v1.10.0']);
  assert.equal((await Tags.show(id, 'odd/50%+1_is_no_blank')).commit.id, head);
  const twice = await refusal(Tags.create(id, 'v1.9.0', 'main'));
  assert.deepEqual([twice.status, twice.text], [400, 'Tag v1.9.0 already exists']);
  assert.equal((await refusal(Tags.create(id, 'bad..name', 'main'))).text, 'Tag name invalid');
  assert.equal((await refusal(Tags.create(id, 'v2', 'nowhere'))).text, 'Target nowhere is invalid');
  assert.equal((await refusal(Tags.showSignature(id, 'v1.9.0'))).text, '404 Signature Not Found');
  await Tags.remove(id, 'odd/50%+1_is_no_blank');
  const gone = await refusal(Tags.show(id, 'odd/50%+1_is_no_blank'));
  assert.deepEqual([gone.status, gone.text], [404, '404 Tag Not Found']);
});

test('a branch protection decides who can push and commit', async () => {
  const here = await filledWorld();
  const { id, full_path } = here.project;
  const { ProtectedBranches, Branches } = clientFor(here, 'maintainer');
  const developer = clientFor(here, 'developer');
  const { run } = await gitClient();
  const remote = remoteOf(here.url, full_path, here.people.developer.token);
  await run(['clone', '-q', remote, 'work']);
  await run(['commit', '-q', '--allow-empty', '-m', 'Mine'], { at: 'work' });
  const push = (...refs: string[]) => run(['push', '-q', remote, ...refs], { at: 'work' });

  const made = await ProtectedBranches.create(id, 'stable/*', {
    pushAccessLevel: 40,
    mergeAccessLevel: 30,
    allowForcePush: false,
  });
  assert.deepEqual(
    [made.name, made.push_access_levels?.[0]?.access_level, made.merge_access_levels?.[0]?.access_level_description],
    ['stable/*', 40, 'Developers + Maintainers'],
  );
  const again = await refusal(ProtectedBranches.create(id, 'stable/*'));
  assert.deepEqual([again.status, again.text], [409, "Protected branch 'stable/*' already exists"]);
  assert.deepEqual(
    (await ProtectedBranches.all(id)).map(({ name }) => name),
    ['main', 'stable/*'],
  );
  assert.equal((await ProtectedBranches.show(id, 'stable/*')).id, made.id);

  await Branches.create(id, 'stable/1', 'main');
  assert.equal((await Branches.show(id, 'stable/1')).protected, true);
  assert.match(
    (await push('HEAD:stable/1')).stderr,
    /You are not allowed to push code to protected branches on this project\./,
  );
  const commit = () => developer.RepositoryFiles.create(id, 'a', 'stable/1', 'a', 'Add a');
  const closed = await refusal(commit());
  assert.deepEqual([closed.status, closed.text], [400, 'You are not allowed to push into this branch']);
  const kept = await refusal(developer.Branches.remove(id, 'stable/1'));
  assert.match(kept.text, /Only a project maintainer or owner can delete a protected branch\.$/);

  const [level] = made.push_access_levels!;
  await ProtectedBranches.edit(id, 'stable/*', {
    allowForcePush: true,
    allowedToPush: [{ id: level!.id as number, _destroy: true }, { access_level: 30 }] as never,
  });
  assert.equal((await push('HEAD:stable/1')).code, 0);
  await commit();
  assert.equal((await push('+HEAD:stable/1')).code, 0, 'who may push may also force');

  await ProtectedBranches.unprotect(id, 'stable/*');
  assert.equal((await Branches.show(id, 'stable/1')).protected, false);
  await developer.Branches.remove(id, 'stable/1');
  assert.equal((await refusal(Branches.show(id, 'stable/1'))).status, 404);
  assert.equal((await refusal(developer.ProtectedBranches.all(id))).status, 403);
});

test('a tag protection decides who can create and delete tags', async () => {
  const here = await filledWorld();
  const { id } = here.project;
  const { ProtectedTags, Tags } = clientFor(here, 'maintainer');
  const developer = clientFor(here, 'developer');
  const made = await ProtectedTags.create(id, 'v*', { createAccessLevel: 40 });
  assert.deepEqual([made.name, made.create_access_levels?.[0]?.access_level_description], ['v*', 'Maintainers']);
  assert.deepEqual(await ProtectedTags.all(id), [made]);
  assert.deepEqual(await ProtectedTags.show(id, 'v*'), made);
  const refused = await refusal(developer.Tags.create(id, 'v1', 'main'));
  assert.deepEqual([refused.status, refused.text], [400, 'You are not allowed to create this tag as it is protected.']);
  assert.equal((await Tags.create(id, 'v1', 'main')).protected, true);
  assert.match((await refusal(developer.Tags.remove(id, 'v1'))).text, /can delete a protected tag\.$/);
  await ProtectedTags.unprotect(id, 'v*');
  await developer.Tags.remove(id, 'v1');
  assert.equal((await refusal(ProtectedTags.show(id, 'v*'))).status, 404);
});

test('webhooks of a project are added, edited, listed and removed', async () => {
  const here = await filledWorld();
  const { id } = here.project;
  const { ProjectHooks } = clientFor(here, 'maintainer');
  const made = await ProjectHooks.add(id, 'https://hooks.example.com/a', { issuesEvents: true, token: 'swordfish' });
  assert.deepEqual([made.url, made.push_events, made.issues_events], ['https://hooks.example.com/a', true, true]);
  const edited = await ProjectHooks.edit(id, made.id, 'https://hooks.example.com/b', { pushEvents: false });
  assert.deepEqual(
    [edited.url, edited.push_events, edited.issues_events],
    ['https://hooks.example.com/b', false, true],
  );
  assert.deepEqual(
    (await ProjectHooks.all(id)).map((hook) => hook.id),
    [made.id],
  );
  const local = await refusal(ProjectHooks.add(id, 'http://127.0.0.1'));
  assert.deepEqual([local.status, local.text], [422, 'Invalid url given']);
  await ProjectHooks.remove(id, made.id);
  assert.equal((await refusal(ProjectHooks.show(id, made.id))).status, 404);
});
