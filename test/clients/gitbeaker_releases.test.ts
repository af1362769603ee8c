/** The TypeScript client @gitbeaker/rest: releases and their links. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { filledWorld } from '../support/repository.ts';
import { refusal } from './gitbeaker_refusal.ts';

test('a release is created with its tag, edited, listed, given links, and removed', async () => {
  const { url, people, project } = await filledWorld();
  const { id } = project;
  const { ProjectReleases, ReleaseLinks, Tags } = new Gitlab({ host: url, token: people.developer.token });
  const missing = await refusal(ProjectReleases.create(id, { tag_name: 'v1' }));
  assert.deepEqual([missing.status, missing.text], [422, 'Ref is not specified']);
  const links = [{ name: 'Manual', url: 'https://files.example/manual', direct_asset_path: '/manual' }];
  const made = await ProjectReleases.create(id, { tag_name: 'v1', ref: 'main', name: 'First', assets: { links } });
  assert.deepEqual([made.name, made.tag_name, made.assets.count], ['First', 'v1', 5]);
  assert.equal((await Tags.show(id, 'v1')).commit.id, made.commit.id);
  assert.equal((await ProjectReleases.edit(id, 'v1', { description: 'Notes' })).description, 'Notes');
  const added = await ReleaseLinks.create(id, 'v1', 'Basket', 'https://files.example/basket', { linkType: 'package' });
  assert.deepEqual(
    (await ReleaseLinks.all(id, 'v1')).map(({ name, link_type }) => [name, link_type]),
    [
      ['Basket', 'package'],
      ['Manual', 'other'],
    ],
  );
  assert.equal((await ReleaseLinks.edit(id, 'v1', added.id, { name: 'Box' })).name, 'Box');
  await ReleaseLinks.remove(id, 'v1', added.id);
  assert.equal((await ProjectReleases.show(id, 'v1')).assets.links?.length, 1);
  await ProjectReleases.createEvidence(id, 'v1');
  assert.equal((await ProjectReleases.all(id))[0]!.evidences?.length, 2);
  await ProjectReleases.remove(id, 'v1');
  assert.equal((await refusal(ProjectReleases.show(id, 'v1'))).status, 404);
});
