/** What rules grant ends with the membership or the share, whatever way that ends (docs/reference/members.md#what-ends-with-a-membership). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { Answer, Client } from '../../test/support/client.ts';
import { performJob } from '../../test/support/jobs.ts';
import { addMergeRequest, worldWithTopic } from '../../test/support/merge_requests.ts';
import { fileUrl, headOf, onMain } from '../../test/support/repository.ts';
import { sent } from '../../test/support/sent.ts';
import { removeExpiredGroupLinks } from '../areas/spaces/group_links/jobs.ts';
import { removeExpiredMemberships } from '../areas/spaces/members/jobs.ts';

/** A project in which rules name a person, as everything that they can. */
async function place() {
  const here = await worldWithTopic();
  const { as } = here;
  const base = `/projects/${here.project.id}`;
  await addMergeRequest(here);
  const sha = await headOf(here);
  /** Has the rules name somebody, and nobody else. */
  const grant = async (named: { user_id: number } | { group_id: number }) => {
    for (const [path, names] of [
      [`${base}/protected_branches`, ['held']],
      [`${base}/protected_environments`, ['vault', 'cellar']],
    ] as const)
      for (const name of names) await as('maintainer').delete(`${path}/${name}`);
    const branch = { name: 'held', allowed_to_push: [named], allowed_to_merge: [named] };
    await sent(as('maintainer').post(`${base}/protected_branches`, branch));
    const deploy = { name: 'vault', deploy_access_levels: [named] };
    await sent(as('maintainer').post(`${base}/protected_environments`, deploy));
    const approve = { name: 'cellar', deploy_access_levels: [{ access_level: 30 }], approval_rules: [named] };
    await sent(as('maintainer').post(`${base}/protected_environments`, approve));
    for (const owner of [base, `${base}/merge_requests/1`]) {
      const { body } = await as('maintainer').get(`${owner}/approval_rules`);
      for (const { id } of body) await as('maintainer').delete(`${owner}/approval_rules/${id}`);
      const names = 'user_id' in named ? { user_ids: [named.user_id] } : { group_ids: [named.group_id] };
      await sent(as('maintainer').post(`${owner}/approval_rules`, { name: 'R', approvals_required: 1, ...names }));
    }
  };
  /** Who is named now, and by what. */
  const named = async () => {
    const { rows } = await sql<{ place: string }>`
      select 'branch' as place from protected_branch_access_levels join protected_branches on protected_branches.id = protected_branch_id
       where project_id = ${here.project.id} and num_nonnulls(user_id, protected_branch_access_levels.group_id) = 1
      union all
      select purpose from protected_environment_rules join protected_environments on protected_environments.id = protected_environment_id
       where project_id = ${here.project.id} and num_nonnulls(user_id, protected_environment_rules.group_id) = 1
      union all
      select 'approval' from approval_rules join (select approval_rule_id from approval_rule_users union all select approval_rule_id from approval_rule_groups) named
          on approval_rule_id = id
       where project_id = ${here.project.id} or merge_request_id in (select id from merge_requests where project_id = ${here.project.id})`.execute(
      here.db,
    );
    return rows.map((row) => row.place).toSorted();
  };
  const push = (client: ReturnType<typeof as>) =>
    client.put(fileUrl(here.project, 'README.md'), { ...onMain, branch: 'held', content: `${Math.random()}` });
  const deploy = (client: ReturnType<typeof as>, environment: string) =>
    client.post(`${base}/deployments`, { environment, sha, ref: 'main', tag: false, status: 'running' });
  const approve = async (client: ReturnType<typeof as>) => {
    const { body } = await deploy(as('owner'), 'cellar');
    return client.post(`${base}/deployments/${body.id}/approval`, { status: 'approved' });
  };
  await sent(as('maintainer').post(`${base}/repository/branches?branch=held&ref=main`));
  return { ...here, base, grant, named, push, deploy, approve };
}

const all = ['approval', 'approval', 'approve', 'branch', 'branch', 'deploy'];

/** Somebody who was named, and is a Developer again, finds nothing of what they had. */
async function assertNothing(
  here: Awaited<ReturnType<typeof place>>,
  person: { id: number; client: Client },
  way: string,
) {
  assert.deepEqual(await here.named(), [], way);
  await sent(here.as('owner').post(`${here.base}/members`, { user_id: person.id, access_level: 30 }));
  assert.equal((await here.push(person.client)).status, 400, way);
  assert.equal((await here.deploy(person.client, 'vault')).status, 403, way);
  assert.equal((await here.approve(person.client)).status, 400, `${way}: Maintainers approve in their place`);
  await here.as('owner').delete(`${here.base}/members/${person.id}`);
}

async function assertEverything(here: Awaited<ReturnType<typeof place>>, { client }: { client: Client }, way: string) {
  assert.deepEqual(await here.named(), all, way);
  assert.equal((await here.push(client)).status, 200, way);
  assert.equal((await here.deploy(client, 'vault')).status, 201, way);
  assert.equal((await here.approve(client)).status, 201, way);
}

test('what names a member ends with the membership, and does not come back with them', async () => {
  const here = await place();
  const { as, base, db, group, services } = here;
  const person = await here.person();
  const friends = await sent(person.client.post('/groups', { name: person.username, path: `of-${person.username}` }));
  const developer = { user_id: person.id, access_level: 30 };
  const share = { group_id: friends.id, group_access: 30 };
  const join = () => as('owner').post(`${base}/members`, developer);
  const shareWith = (where: string) => as('admin').post(`${where}/share`, share);
  const ways: [string, join: () => Promise<Answer>, end: () => Promise<unknown>][] = [
    ['removed', join, () => as('owner').delete(`${base}/members/${person.id}`)],
    ['left', join, () => person.client.delete(`${base}/members/${person.id}`)],
    [
      'expired',
      join,
      async () => {
        await sql`update members set expires_at = current_date where user_id = ${person.id} and project_id = ${here.project.id}`.execute(
          db,
        );
        await performJob(services, removeExpiredMemberships, {});
      },
    ],
    [
      'removed from the group above',
      () => as('owner').post(`/groups/${group.id}/members`, developer),
      () => as('owner').delete(`/groups/${group.id}/members/${person.id}`),
    ],
    ['share removed', () => shareWith(base), () => as('owner').delete(`${base}/share/${friends.id}`)],
    [
      'share of the group removed',
      () => shareWith(`/groups/${group.id}`),
      () => as('owner').delete(`/groups/${group.id}/share/${friends.id}`),
    ],
    [
      'share expired',
      () => shareWith(base),
      async () => {
        await sql`update group_links set expires_at = current_date where invited_group_id = ${friends.id}`.execute(db);
        await sql`update project_authorizations set expires_at = current_date where user_id = ${person.id} and project_id = ${here.project.id}`.execute(
          db,
        );
        await performJob(services, removeExpiredGroupLinks, {});
      },
    ],
  ];
  for (const [way, begin, end] of ways) {
    await sent(begin());
    await here.grant({ user_id: person.id });
    await assertEverything(here, person, way);
    await end();
    await assertNothing(here, person, way);
  }
});

test('what names a group ends with its share, also for those of its members who belong to the project', async () => {
  const here = await place();
  const { as, base, db, group, services } = here;
  const person = await here.person();
  const friends = await sent(person.client.post('/groups', { name: person.username, path: `of-${person.username}` }));
  const share = { group_id: friends.id, group_access: 30 };
  const shareWith = (where: string) => as('admin').post(`${where}/share`, share);
  const expire = () =>
    sql`update group_links set expires_at = current_date where invited_group_id = ${friends.id}`.execute(db);
  const ways: [string, string, end: () => Promise<unknown>][] = [
    ['share removed', base, () => as('owner').delete(`${base}/share/${friends.id}`)],
    [
      'share of the group removed',
      `/groups/${group.id}`,
      () => as('owner').delete(`/groups/${group.id}/share/${friends.id}`),
    ],
    [
      'share expired',
      base,
      async () => {
        await expire();
        // Before anything is deleted, it has no effect.
        await sent(as('owner').post(`${base}/members`, { user_id: person.id, access_level: 30 }));
        assert.equal((await here.push(person.client)).status, 400);
        assert.equal((await here.deploy(person.client, 'vault')).status, 403);
        assert.equal((await here.approve(person.client)).status, 400);
        await as('owner').delete(`${base}/members/${person.id}`);
        await performJob(services, removeExpiredGroupLinks, {});
      },
    ],
  ];
  for (const [way, where, end] of ways) {
    await sent(shareWith(where));
    await here.grant({ group_id: friends.id });
    await assertEverything(here, person, way);
    await end();
    await assertNothing(here, person, way);
  }
});

test('a project or group that moves leaves behind what the groups above were granted', async () => {
  const here = await place();
  const { as, base, group, people } = here;
  const person = await here.person();
  const newGroup = async (path: string) => {
    const made = await sent(as('admin').post('/groups', { name: path, path }));
    await sent(as('admin').post(`/groups/${made.id}/members`, { user_id: people.owner.id, access_level: 50 }));
    return made.id as number;
  };
  const [top, away] = [await newGroup(`top-${person.username}`), await newGroup(`away-${person.username}`)];
  await sent(as('admin').post(`/groups/${top}/members`, { user_id: person.id, access_level: 30 }));
  await sent(as('admin').post(`/groups/${group.id}/transfer`, { group_id: top }));
  const ofTop = `/groups/${top}/protected_branches`;
  await sent(as('owner').post(ofTop, { name: 'x', allowed_to_push: [{ group_id: group.id }, { access_level: 40 }] }));
  await here.grant({ group_id: top });
  await assertEverything(here, person, 'in the group');
  await sent(as('owner').post(`/groups/${group.id}/transfer`, { group_id: away }));
  await assertNothing(here, person, 'group moved');
  const { push_access_levels } = await sent(as('owner').get(`${ofTop}/x`));
  assert.deepEqual(
    push_access_levels.map(({ access_level }: { access_level: number | null }) => access_level),
    [40],
    'and the group that moved is not named above any more',
  );
  await here.grant({ group_id: away });
  await sent(as('owner').put(`${base}/transfer`, { namespace: top }));
  await sent(as('owner').post(`/groups/${away}/members`, { user_id: person.id, access_level: 30 }));
  await assertNothing(here, person, 'project moved');
});
