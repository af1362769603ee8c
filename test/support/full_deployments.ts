/** Deployments of a project, its protection rules, and its shares. */
import { followDeployments } from '../../src/areas/work/merge_requests/index.ts';
import { performQueued } from './jobs.ts';
import { headOf } from './repository.ts';
import { sent } from './sent.ts';
import type { World } from './world.ts';

interface Friends {
  /** A group with which the group of the world is shared. */
  friends: { id: number };
}

/** Protections and settings of the group of a world. */
export async function addGroupRules({ as, group, people }: World, { friends }: Friends): Promise<void> {
  const url = `/groups/${group.id}`;
  const branches = { name: 'stable', push_access_level: 40, merge_access_level: 30, allow_force_push: true };
  await sent(as('owner').post(`${url}/protected_branches`, { ...branches, unprotect_access_level: 40 }));
  const rules = { deploy_access_levels: [{ access_level: 40 }, { user_id: people.developer.id }] };
  const approvals = [{ group_id: friends.id, required_approvals: 1 }];
  await sent(
    as('owner').post(`${url}/protected_environments`, { name: 'testing', ...rules, approval_rules: approvals }),
  );
  await sent(as('owner').put(`${url}/merge_request_approval_setting`, { allow_author_approval: false }));
  await sent(as('admin').put(`${url}/custom_attributes/team`, { value: 'pickers' }));
  const framework = { name: 'Orchard', description: 'For *all*', color: '#224466', default: true };
  const requirements = [
    { name: 'Two read', description: 'Before a merge', controls: [{ name: 'minimum_approvals_required_2' }] },
    {
      name: 'Nothing leaks',
      controls: [{ name: 'push_rules_secrets_prevented' }, { name: 'signed_commits_required' }],
    },
  ];
  await sent(as('owner').post(`${url}/compliance_frameworks`, { ...framework, requirements }));
}

async function addDeployments(here: World): Promise<void> {
  const { as, project, services } = here;
  const url = `/projects/${project.id}`;
  const deploy = async (environment: string, status: string) =>
    sent(
      as('developer').post(`${url}/deployments`, {
        environment,
        status,
        sha: await headOf(here),
        ref: 'main',
        tag: false,
      }),
    );
  await deploy('production', 'success');
  await deploy('review/1', 'failed');
  const waiting = await deploy('vault', 'running');
  await sent(
    as('maintainer').post(`${url}/deployments/${waiting.id}/approval`, { status: 'approved', comment: 'Ripe' }),
  );
  await performQueued(services, [followDeployments]);
}

/** Environments, their protections and deployments, shares and blocks of the project of a world, which has two merge requests, one of them merged. */
export async function addProjectRules(here: World, { friends }: Friends): Promise<void> {
  const { as, group, project, people, db } = here;
  const url = `/projects/${project.id}`;
  await sent(as('owner').post(`${url}/share`, { group_id: friends.id, group_access: 30, expires_at: '2040-01-01' }));
  const site = { external_url: 'https://apples.example', description: 'For *all*', tier: 'production' };
  await sent(as('developer').post(`${url}/environments`, { name: 'production', ...site, auto_stop_in: '2 weeks' }));
  const review = await sent(as('developer').post(`${url}/environments`, { name: 'review/1', auto_stop_in: '1 day' }));
  await sent(as('maintainer').post(`${url}/environments`, { name: 'vault' }));
  const deploying = [{ access_level: 30 }, { user_id: people.developer.id }, { group_id: friends.id }];
  const approving = [{ access_level: 40, required_approvals: 2 }];
  const rules = { deploy_access_levels: deploying, approval_rules: approving };
  await sent(as('maintainer').post(`${url}/protected_environments`, { name: 'vault', ...rules }));
  await addDeployments(here);
  await sent(as('developer').post(`${url}/environments/${review.id}/stop`));
  // As review apps are marked that have not been deployed for a month.
  await db
    .updateTable('environments')
    .set({ auto_delete_at: '2040-01-01T00:00:00Z' })
    .where('id', '=', review.id)
    .execute();
  const branch = { name: 'shared/*', allowed_to_push: [{ group_id: friends.id }] };
  await sent(as('maintainer').post(`${url}/protected_branches`, branch));
  const rule = { name: 'Friends', approvals_required: 1, group_ids: [friends.id] };
  await sent(as('maintainer').post(`${url}/approval_rules`, rule));
  const [other] = await sent(as('maintainer').get(`${url}/merge_requests`, { state: 'closed' }));
  const [first] = await sent(as('maintainer').get(`${url}/merge_requests`, { state: 'opened' }));
  await sent(
    as('maintainer').post(`${url}/merge_requests/${first.iid}/approval_rules`, { ...rule, name: 'Neighbours' }),
  );
  await sent(
    as('developer').post(`${url}/merge_requests/${first.iid}/blocks`, { blocking_merge_request_id: other.id }),
  );
  await sent(as('admin').put(`${url}/custom_attributes/team`, { value: 'growers' }));
  const frameworks = await sent(as('owner').get(`/groups/${group.id}/compliance_frameworks`));
  const framework_ids = frameworks.map(({ id: framework }: { id: number }) => framework);
  await sent(as('owner').put(`${url}/compliance_frameworks`, { framework_ids }));
}
