/** The TypeScript client @gitbeaker/rest: feature flags, user lists and badges. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

test('feature flags and user lists are created, listed, changed and removed', async () => {
  const here = await world();
  const { id } = here.project;
  const { FeatureFlags, FeatureFlagUserLists } = clientFor(here, 'developer');
  const list = await FeatureFlagUserLists.create(id, 'Pickers', 'rowan,hazel');
  assert.equal((await FeatureFlagUserLists.show(id, list.iid)).user_xids, 'rowan,hazel');
  const strategies = [{ name: 'default', parameters: '{}' }];
  const flag = await FeatureFlags.create(id, 'press', 'new_version_flag', { description: 'New', strategies } as object);
  assert.deepEqual([flag.name, flag.active, flag.strategies?.[0]?.name], ['press', true, 'default']);
  const edited = await FeatureFlags.edit(id, 'press', { active: false });
  assert.deepEqual(await FeatureFlags.all(id, { scope: 'disabled' }), [edited]);
  const twice = await refusal(FeatureFlags.create(id, 'press', 'new_version_flag'));
  assert.deepEqual([twice.status, twice.text], [400, '["Name has already been taken"]']);
  await FeatureFlags.remove(id, 'press');
  await FeatureFlagUserLists.remove(id, list.iid);
  assert.equal((await refusal(FeatureFlags.show(id, 'press'))).status, 404);
});

test('badges are added, previewed, changed and removed', async () => {
  const here = await world();
  const { id, full_path } = here.project;
  const { ProjectBadges } = clientFor(here, 'maintainer');
  const [link, image] = ['https://a.example/%{project_path}', 'https://a.example/a.svg'];
  const badge = await ProjectBadges.add(id, link, image);
  assert.equal(badge.rendered_link_url, `https://a.example/${full_path}`);
  assert.equal((await ProjectBadges.preview(id, link, image)).rendered_link_url, badge.rendered_link_url);
  const edited = await ProjectBadges.edit(id, badge.id, { imageUrl: 'https://b.example/b.svg' });
  assert.deepEqual(await ProjectBadges.all(id), [edited]);
  await ProjectBadges.remove(id, badge.id);
  assert.deepEqual(await ProjectBadges.all(id), []);
});
