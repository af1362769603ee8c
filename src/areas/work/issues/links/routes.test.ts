import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssue } from '../../../../../test/support/issues.ts';
import { type World, world } from '../../../../../test/support/world.ts';

const linksOf = ({ project }: Pick<World, 'project'>, { iid }: { iid: number }) =>
  `/projects/${project.id}/issues/${iid}/links`;
const notesOn = async ({ db }: World, issue_id: number) =>
  (await db.selectFrom('notes').select('body').where('issue_id', '=', issue_id).orderBy('id').execute()).map(
    ({ body }) => body,
  );

async function otherProject({ as, group }: World) {
  const { body } = await as('owner').post('/projects', { name: 'other', namespace_id: group.id });
  return { id: body.id as number, full_path: body.path_with_namespace as string, path: 'other' };
}

test('issues are linked in both directions and across projects, with system notes on both sides', async () => {
  const here = await world();
  const { as, project } = here;
  const other = await otherProject(here);
  const [one, two] = [await addIssue(here), await addIssue(here, { title: 'Two' })];
  const far = await addIssue({ as, project: other }, { title: 'Far' });
  const { status, body: link } = await as('reporter').post(linksOf(here, one), {
    target_project_id: project.id,
    target_issue_iid: two.iid,
  });
  assert.equal(status, 201, JSON.stringify(link));
  assert.deepEqual([link.source_issue.id, link.target_issue.id, link.link_type], [one.id, two.id, 'relates_to']);
  const blocking = await as('reporter').post(linksOf(here, one), {
    target_project_id: other.full_path,
    target_issue_iid: String(far.iid),
    link_type: 'is_blocked_by',
  });
  assert.deepEqual(
    [blocking.body.source_issue.id, blocking.body.target_issue.id, blocking.body.link_type],
    [far.id, one.id, 'blocks'],
  );

  const list = async (issue: { iid: number }, at: Pick<World, 'project'> = here) =>
    (await as('guest').get(linksOf(at, issue))).body.map((entry: Record<string, unknown>) => [
      entry.title,
      entry.link_type,
      entry.issue_link_id,
    ]);
  assert.deepEqual(await list(one), [
    ['Two', 'relates_to', link.id],
    ['Far', 'blocks', blocking.body.id],
  ]);
  assert.deepEqual(await list(two), [['An issue', 'relates_to', link.id]]);
  assert.deepEqual(await list(far, { project: other }), [['An issue', 'is_blocked_by', blocking.body.id]]);
  assert.equal((await as('guest').get(`/projects/${other.id}/issues/${far.iid}`)).body.blocking_issues_count, 1);
  assert.deepEqual((await as('guest').get(`${linksOf(here, two)}/${link.id}`)).body.id, link.id);
  assert.equal((await as('guest').get(`${linksOf(here, two)}/${blocking.body.id}`)).status, 404);

  const removed = await as('reporter').delete(`${linksOf(here, two)}/${link.id}`);
  assert.deepEqual([removed.status, removed.body.id], [200, link.id]);
  assert.equal((await as('reporter').delete(`${linksOf(here, two)}/${link.id}`)).status, 404);
  assert.deepEqual(await list(two), []);
  const far_reference = `${other.full_path}#${far.iid}`;
  assert.deepEqual(await notesOn(here, one.id), [
    `marked this issue as related to #${two.iid}`,
    `marked this issue as blocked by ${far_reference}`,
    `removed the relation with #${two.iid}`,
  ]);
  assert.deepEqual(await notesOn(here, far.id), [`marked this issue as blocking ${project.full_path}#${one.iid}`]);
});

test('a link needs the role in both projects, and two issues have at most one', async () => {
  const here = await world();
  const { as, project } = here;
  const [one, two] = [await addIssue(here), await addIssue(here)];
  const target = { target_project_id: null, target_issue_iid: two.iid };
  const link = async (parameters: Record<string, unknown>, persona: 'reporter' | 'planner' = 'reporter') => {
    const { status, body } = await as(persona).post(linksOf(here, one), parameters);
    return [status, body.message];
  };
  const role = "Couldn't link issue. You must have at least the Reporter role in both projects.";
  assert.deepEqual(await link(target, 'planner'), [403, role]);
  assert.deepEqual(await link({}), [400, 'target_project_id is missing, target_issue_iid is missing']);
  assert.deepEqual(await link({ ...target, link_type: 'x' }), [400, 'link_type does not have a valid value']);
  assert.deepEqual(await link({ ...target, target_project_id: 987_654_321 }), [404, '404 Project Not Found']);
  const missing = 'No matching issue found. Make sure that you are adding a valid issue URL.';
  assert.deepEqual(await link({ ...target, target_issue_iid: 99 }), [404, missing]);
  assert.deepEqual(await link({ ...target, target_issue_iid: one.iid }), [
    422,
    `#${one.iid} cannot be added: cannot be related to itself`,
  ]);
  const outside = await here.person();
  const foreign = (await outside.client.post('/projects', { name: 'foreign', visibility: 'public' })).body;
  await outside.client.post(`/projects/${foreign.id}/issues`, { title: 'Foreign' });
  assert.deepEqual(await link({ target_project_id: foreign.id, target_issue_iid: 1 }), [403, role]);

  assert.deepEqual(await link(target), [201, undefined]);
  assert.deepEqual(await link(target), [409, 'Issue(s) already assigned']);
  const back = { target_project_id: project.id, target_issue_iid: one.iid, link_type: 'blocks' };
  assert.equal((await as('reporter').post(linksOf(here, two), back)).status, 409);
  assert.equal((await as('anonymous').post(linksOf(here, one), target)).status, 401);
  const [{ issue_link_id }] = (await as('guest').get(linksOf(here, one))).body;
  assert.equal((await as('planner').delete(`${linksOf(here, one)}/${issue_link_id}`)).status, 403);

  await as('planner').put(`/projects/${project.id}/issues/${two.iid}`, { confidential: true });
  assert.deepEqual((await as('guest').get(linksOf(here, one))).body, []);
  assert.equal((await as('guest').get(`${linksOf(here, one)}/${issue_link_id}`)).status, 404);
  assert.equal((await as('planner').get(linksOf(here, one))).body.length, 1);
});
