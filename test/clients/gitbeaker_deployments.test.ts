/** The TypeScript client @gitbeaker/rest: environments and deployments. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { filledWorld, headOf } from '../support/repository.ts';
import { refusal } from './gitbeaker_refusal.ts';

test('environments are created, changed, stopped and deleted, and deployments recorded', async () => {
  const here = await filledWorld();
  const { project, people, url } = here;
  const api = new Gitlab({ host: url, token: people.maintainer.token });
  const staging = await api.Environments.create(project.id, 'staging', { externalUrl: 'https://a.example' });
  assert.deepEqual([staging.slug, staging.state], ['staging', 'available']);
  const sha = (await headOf(here))!;
  const made = await api.Deployments.create(project.id, 'production', sha, 'main', false, { status: 'running' });
  assert.equal(made.environment.name, 'production');
  await api.Deployments.edit(project.id, made.id, 'success');
  assert.deepEqual(
    (await api.Deployments.all(project.id, { environment: 'production' })).map(({ id, status }) => [id, status]),
    [[made.id, 'success']],
  );
  assert.deepEqual(await api.Deployments.allMergeRequests(project.id, made.id), []);
  assert.deepEqual(
    (await api.Environments.all(project.id)).map(({ name }) => name),
    ['production', 'staging'],
  );
  assert.equal((await refusal(api.Environments.remove(project.id, staging.id))).status, 403);
  await api.Environments.stop(project.id, staging.id);
  await api.Environments.remove(project.id, staging.id);
  assert.equal((await refusal(api.Environments.show(project.id, staging.id))).status, 404);
  assert.equal((await refusal(api.Deployments.remove(project.id, made.id))).status, 400);
});

test('environments are protected, and a deployment waits for an approval', async () => {
  const here = await filledWorld();
  const { project, people, url } = here;
  const [maintainer, owner] = (['maintainer', 'owner'] as const).map(
    (persona) => new Gitlab({ host: url, token: people[persona].token }),
  );
  const protection = await maintainer!.ProjectProtectedEnvironments.create(
    project.id,
    'production',
    [{ accessLevel: 40 }],
    {
      approvalRules: [{ accessLevel: 40 }],
    },
  );
  assert.equal(protection.deploy_access_levels?.[0]?.access_level, 40);
  assert.equal((await maintainer!.ProjectProtectedEnvironments.all(project.id)).length, 1);
  const sha = (await headOf(here))!;
  const made = await maintainer!.Deployments.create(project.id, 'production', sha, 'main', false, {
    status: 'running',
  });
  assert.equal(made.status, 'blocked');
  await owner!.Deployments.setApproval(project.id, made.id, 'approved');
  assert.equal((await maintainer!.Deployments.show(project.id, made.id)).status, 'running');
  await maintainer!.ProjectProtectedEnvironments.remove(project.id, 'production');
  assert.deepEqual(await maintainer!.ProjectProtectedEnvironments.all(project.id), []);
});
