import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBranch, addMergeRequest, worldWithTopic } from '../../../../../test/support/merge_requests.ts';
import type { World } from '../../../../../test/support/world.ts';

const listOf = ({ project }: World) => `/projects/${project.id}/merge_requests`;

/** Three merge requests: of the developer, assigned to the reporter; of the owner, reviewed by the reporter; a closed draft. */
async function threeOfThem(): Promise<World> {
  const here = await worldWithTopic({});
  const { project, people } = here;
  for (const branch of ['second', 'third']) await addBranch(here, branch);
  const milestone = await here.as('owner').post(`/projects/${project.id}/milestones`, { title: 'Spring' });
  await addMergeRequest(here, { title: 'Beans', labels: 'garden,red', assignee_ids: [people.reporter.id] });
  const second = { title: 'Peas', description: 'In rows', source_branch: 'second', labels: 'garden' };
  await addMergeRequest(
    here,
    { ...second, reviewer_ids: [people.reporter.id], milestone_id: milestone.body.id },
    'owner',
  );
  await addMergeRequest(here, { title: 'Draft: Corn', source_branch: 'third' });
  await here.as('developer').put(`${listOf(here)}/3`, { state_event: 'close' });
  await here.as('reporter').post(`${listOf(here)}/2/award_emoji`, { name: 'thumbsup' });
  return here;
}

const iidsOf = (body: { iid: number }[]) => body.map(({ iid }) => iid);

test('a list is filtered, with the opposite of each filter, and ordered', async () => {
  const here = await threeOfThem();
  const { people, project } = here;
  const { reporter, developer, maintainer, owner } = people;
  const asked = async (parameters: Record<string, unknown>) => {
    const { status, body } = await here.as('reporter').get(listOf(here), parameters);
    assert.equal(status, 200, `${JSON.stringify(parameters)} ${JSON.stringify(body)}`);
    return iidsOf(body);
  };
  const cases: [Record<string, unknown>, number[]][] = [
    [{}, [3, 2, 1]],
    [{ state: 'opened' }, [2, 1]],
    [{ state: 'closed' }, [3]],
    [{ state: 'merged' }, []],
    [{ labels: 'garden' }, [2, 1]],
    [{ labels: 'garden,red' }, [1]],
    [{ labels: 'None' }, [3]],
    [{ not: { labels: 'red' } }, [3, 2]],
    [{ milestone: 'Spring' }, [2]],
    [{ milestone: 'None' }, [3, 1]],
    [{ not: { milestone: 'Spring' } }, [3, 1]],
    [{ author_id: developer.id }, [3, 1]],
    [{ author_username: owner.username }, [2]],
    [{ not: { author_username: owner.username } }, [3, 1]],
    [{ assignee_id: reporter.id }, [1]],
    [{ assignee_id: 'None' }, [3, 2]],
    [{ assignee_username: [reporter.username] }, [1]],
    [{ not: { assignee_id: reporter.id } }, [3, 2]],
    [{ reviewer_id: reporter.id }, [2]],
    [{ reviewer_id: 'Any' }, [2]],
    [{ reviewer_username: reporter.username }, [2]],
    [{ not: { reviewer_username: reporter.username } }, [3, 1]],
    [{ my_reaction_emoji: 'thumbsup' }, [2]],
    [{ not: { my_reaction_emoji: 'Any' } }, [3, 1]],
    [{ source_branch: 'second' }, [2]],
    [{ target_branch: 'none' }, []],
    [{ source_project_id: project.id }, [3, 2, 1]],
    [{ source_project_id: 0 }, []],
    [{ draft: true }, [3]],
    [{ wip: 'no' }, [2, 1]],
    [{ search: 'rows' }, [2]],
    [{ search: 'rows', in: 'title' }, []],
    [{ scope: 'assigned_to_me' }, [1]],
    [{ scope: 'reviews-for-me' }, [2]],
    [{ scope: 'created_by_me' }, []],
    [{ iids: [1, 3] }, [3, 1]],
    [{ merge_user_id: owner.id }, []],
    [{ environment: 'production' }, []],
    [{ deployed_before: '2100-01-01T00:00:00Z' }, []],
    [{ approved: 'yes' }, [2, 1]],
    [{ approved: 'no' }, [3]],
    [{ approved_by_ids: [maintainer.id] }, [2, 1]],
    [{ approved_by_ids: [maintainer.id, owner.id] }, [1]],
    [{ approved_by_ids: ['None'] }, [3]],
    [{ approved_by_usernames: [owner.username] }, [1]],
    [{ approver_ids: [owner.id] }, [2]],
    [{ approver_ids: ['None'] }, [3, 1]],
    [{ created_before: '2020-01-01T00:00:00Z' }, []],
    [{ order_by: 'title', sort: 'asc' }, [1, 3, 2]],
    [{ order_by: 'popularity' }, [2, 3, 1]],
    [{ order_by: 'merged_at' }, [3, 2, 1]],
    [{ order_by: 'milestone_due', sort: 'asc' }, [3, 2, 1]],
    [{ order_by: 'created_at', sort: 'asc', per_page: 2 }, [1, 2]],
  ];
  for (const [by, iid] of [
    ['maintainer', 1],
    ['owner', 1],
    ['maintainer', 2],
  ] as const)
    assert.equal((await here.as(by).post(`${listOf(here)}/${iid}/approve`)).status, 201);
  const rule = { name: 'Owner', approvals_required: 1, user_ids: [owner.id] };
  assert.equal((await here.as('maintainer').post(`${listOf(here)}/2/approval_rules`, rule)).status, 201);
  for (const [parameters, expected] of cases)
    assert.deepEqual(await asked(parameters), expected, JSON.stringify(parameters));
  const refused = await here.as('reporter').get(listOf(here), { reviewer_id: 'somebody' });
  assert.deepEqual(
    [refused.status, refused.body.error],
    [400, 'reviewer_id should be an integer, none, or any, however got somebody'],
  );
  const both = await here.as('reporter').get(listOf(here), { author_id: 1, author_username: 'a' });
  assert.equal(both.body.error, 'author_id, author_username are mutually exclusive');
});

test('the lists of a project, of a group and of all merge requests show those that the caller may read, in a simple form on request', async () => {
  const here = await threeOfThem();
  const { as, group, project, db } = here;
  assert.deepEqual(iidsOf((await as('developer').get('/merge_requests')).body), [3, 1], 'their own');
  assert.deepEqual(iidsOf((await as('reporter').get('/merge_requests', { scope: 'all' })).body), [3, 2, 1]);
  assert.deepEqual(
    iidsOf((await as('reporter').get(`/groups/${group.id}/merge_requests`, { state: 'opened' })).body),
    [2, 1],
  );
  assert.equal((await as('anonymous').get('/merge_requests')).status, 401);
  const { body, headers } = await as('reporter').get(listOf(here), {
    view: 'simple',
    with_labels_details: true,
    per_page: 1,
  });
  assert.deepEqual(Object.keys(body[0]).sort(), [
    ...['created_at', 'description', 'id', 'iid', 'project_id', 'state', 'title', 'updated_at', 'web_url'],
  ]);
  assert.equal(headers.get('x-total'), '3');
  const full = (await as('reporter').get(listOf(here), { with_labels_details: true, labels: 'red' })).body[0];
  assert.deepEqual([full.labels[1].name, full.references.relative], ['red', '!1']);
  for (const caller of ['guest', 'planner'] as const) {
    assert.deepEqual((await as(caller).get('/merge_requests', { scope: 'all' })).body, [], caller);
    assert.deepEqual((await as(caller).get(`/groups/${group.id}/merge_requests`)).body, [], caller);
    assert.equal((await as(caller).get(listOf(here))).status, 403, caller);
  }
  const milestone = (await as('reporter').get(`/projects/${project.id}/milestones`)).body[0];
  const ofMilestone = `/projects/${project.id}/milestones/${milestone.id}/merge_requests`;
  assert.deepEqual(iidsOf((await as('reporter').get(ofMilestone)).body), [2]);
  assert.equal((await as('planner').get(ofMilestone)).status, 403);
  const ofGroup = `/groups/${group.id}/milestones`;
  const shared = (await as('owner').post(ofGroup, { title: 'Summer' })).body;
  await as('owner').put(`${listOf(here)}/1`, { milestone_id: shared.id });
  assert.deepEqual(iidsOf((await as('reporter').get(`${ofGroup}/${shared.id}/merge_requests`)).body), [1]);
  assert.deepEqual((await as('planner').get(`${ofGroup}/${shared.id}/merge_requests`)).body, []);
  const counts = (await as('reporter').get('/user_counts')).body;
  assert.deepEqual(
    [counts.merge_requests, counts.assigned_merge_requests, counts.review_requested_merge_requests],
    [1, 1, 1],
  );
  const labels = (await as('reporter').get(`/projects/${project.id}/labels`, { with_counts: true, search: 'garden' }))
    .body;
  assert.equal(labels[0].open_merge_requests_count, 2);
  await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', group.id).execute();
  await db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();
  assert.equal(
    (await as('anonymous').get('/merge_requests', { scope: 'all', source_branch: 'second' })).body.length,
    1,
  );
  await as('owner').put(`/projects/${project.id}`, { merge_requests_access_level: 'private' });
  assert.equal((await as('anonymous').get(listOf(here))).status, 403);
  assert.deepEqual(iidsOf((await as('reporter').get(listOf(here))).body), [3, 2, 1]);
  await as('owner').put(`/projects/${project.id}`, { merge_requests_access_level: 'disabled' });
  assert.equal((await as('owner').get(listOf(here))).status, 403);
  assert.deepEqual((await as('owner').get(`/groups/${group.id}/merge_requests`)).body, []);
});
