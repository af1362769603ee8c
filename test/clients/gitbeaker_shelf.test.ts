/** The TypeScript client @gitbeaker/rest: badges, templates, attributes, submodules, changelogs, and what belongs to the instance. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { newPublicKey } from '../support/public_key.ts';
import { addReadme } from '../support/repository.ts';
import { addSubmodule } from '../support/submodule.ts';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });
const ours = () => world({});

test('badges of a project and a group are added, changed, previewed and removed', async () => {
  const here = await ours();
  await addReadme(here);
  const { ProjectBadges } = clientFor(here, 'maintainer');
  const { GroupBadges } = clientFor(here, 'owner');
  const [project, group] = [here.project.id, here.group.id];
  const addresses = ['https://ci.example/%{project_path}', 'https://ci.example/%{default_branch}.svg'] as const;
  const above = await GroupBadges.add(group, ...addresses, { name: 'Build' });
  const made = await ProjectBadges.add(project, ...addresses, { name: 'Cover' });
  assert.equal(made.rendered_image_url, 'https://ci.example/main.svg');
  assert.deepEqual(
    (await ProjectBadges.all(project, { perPage: 1 })).map(({ name, kind }) => [name, kind]),
    [
      ['Build', 'group'],
      ['Cover', 'project'],
    ],
  );
  assert.equal((await ProjectBadges.edit(project, made.id, { name: 'Coverage' })).name, 'Coverage');
  assert.equal((await ProjectBadges.preview(project, ...addresses)).image_url, addresses[1]);
  const refused = await refusal(ProjectBadges.remove(project, above.id));
  assert.deepEqual(refused, { status: 403, text: 'To delete a Group badge please use the Group endpoint' });
  await ProjectBadges.remove(project, made.id);
  await GroupBadges.remove(group, above.id);
  assert.deepEqual(await GroupBadges.all(group), []);
});

test('templates are listed and shown, also those of a project', async () => {
  const here = await ours();
  // Its LicenseTemplates ask for `/templates/Licenses`, which is no path.
  const { GitignoreTemplates, ProjectTemplates } = clientFor(here, 'developer');
  assert.ok((await GitignoreTemplates.all({ perPage: 100 })).length > 100);
  assert.match((await GitignoreTemplates.show('Node')).content, /node_modules/);
  const [dockerfile] = await ProjectTemplates.all(here.project.id, 'dockerfiles');
  assert.match((await ProjectTemplates.show(here.project.id, 'dockerfiles', String(dockerfile!.key))).content, /FROM/);
  assert.deepEqual(await ProjectTemplates.all(here.project.id, 'gitlab_ci_ymls'), []);
  const mit = await ProjectTemplates.show(here.project.id, 'licenses', 'mit', { fullname: 'Ada' });
  assert.match(mit.content, / Ada/);
  const missing = await refusal(ProjectTemplates.show(here.project.id, 'issues', 'Bug'));
  assert.deepEqual(missing, { status: 404, text: '404 Template Not Found' });
});

test('attributes of a user, a group and a project are set, shown and removed', async () => {
  const here = await ours();
  const { UserCustomAttributes, GroupCustomAttributes, ProjectCustomAttributes } = clientFor(here, 'admin');
  for (const [attributes, id] of [
    [UserCustomAttributes, here.people.guest.id],
    [GroupCustomAttributes, here.group.id],
    [ProjectCustomAttributes, here.project.id],
  ] as const) {
    assert.deepEqual(await attributes.set(id, 'soil', 'clay'), { key: 'soil', value: 'clay' });
    await attributes.set(id, 'soil', 'loam');
    assert.deepEqual(await attributes.all(id), [{ key: 'soil', value: 'loam' }]);
    await attributes.remove(id, 'soil');
    assert.equal((await refusal(attributes.show(id, 'soil'))).status, 404);
  }
});

test('messages and limits of the instance are changed, keys looked up, and things counted', async () => {
  const here = await ours();
  const api = clientFor(here, 'admin');
  const colour = await refusal(api.BroadcastMessages.create({ message: 'Soon', color: 'reddish' }));
  assert.equal(colour.status, 400);
  const message = await api.BroadcastMessages.create({ message: 'Soon', targetAccessLevels: [30, 40] });
  await api.BroadcastMessages.edit(message.id, { message: 'Now' });
  const shown = await clientFor(here, 'guest').BroadcastMessages.show(message.id);
  assert.deepEqual([shown.message, shown.active], ['Now', true]);
  await api.BroadcastMessages.remove(message.id);
  assert.deepEqual(await api.BroadcastMessages.all(), []);

  // Its ApplicationAppearance asks for `/application/appearence`, which is no path.
  const limits = await api.ApplicationPlanLimits.edit('default', { mavenMaxFileSize: 5 });
  assert.equal(limits.maven_max_file_size, 5);
  assert.equal((await api.ApplicationPlanLimits.show()).maven_max_file_size, 5);

  const key = await clientFor(here, 'developer').UserSSHKeys.create('Laptop', newPublicKey());
  assert.equal((await api.Keys.show({ keyId: key.id })).title, 'Laptop');
  // It loses the fingerprint of the others on the way.
  const missing = await refusal(api.Keys.show({ keyId: key.id + 1_000_000 }));
  assert.deepEqual(missing, { status: 404, text: '404 Not found' });
  assert.match(String((await api.ApplicationStatistics.show()).users), /^[\d,]+$/);
  assert.deepEqual(Object.keys(await api.SidekiqMetrics.compoundMetrics()).sort(), ['jobs', 'processes', 'queues']);
});

test('a submodule is moved, a changelog written and committed, and fetches counted', async () => {
  const here = await ours();
  await addReadme(here);
  await addSubmodule(here);
  const { RepositorySubmodules, Repositories, RepositoryFiles, ProjectStatistics, Tags } = clientFor(
    here,
    'maintainer',
  );
  const [project, newer] = [here.project.id, '2'.repeat(40)];
  await Tags.create(project, 'v0.9.0', 'main');
  const commitMessage = 'Press on\n\nChangelog: changed';
  const commit = await RepositorySubmodules.edit(project, 'libs/press', 'main', newer, { commitMessage });
  assert.equal(commit.title, 'Press on');
  const again = await refusal(RepositorySubmodules.edit(project, 'libs/press', 'main', newer));
  assert.deepEqual(again, { status: 400, text: `The submodule libs/press is already at ${newer}` });
  const { notes } = await Repositories.showChangelog(project, '1.0.0');
  assert.match(String(notes), /### changed \(1 change\)/);
  await Repositories.editChangelog(project, '1.0.0');
  assert.equal(await RepositoryFiles.showRaw(project, 'CHANGELOG.md', 'main'), notes);
  assert.equal((await ProjectStatistics.show(project)).fetches.total, 0);
});
