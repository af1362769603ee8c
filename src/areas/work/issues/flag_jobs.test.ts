/** Whether an issue has labels and assignees, which is kept beside it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performJob } from '../../../../test/support/jobs.ts';
import { untilLockWaits } from '../../../../test/support/waiting.ts';
import { type World, world } from '../../../../test/support/world.ts';
import type { Database } from '../../../db/index.ts';
import { fillIssueFlags } from './flag_jobs.ts';

const flagsOf = ({ db }: World, id: number) =>
  db.selectFrom('issues').select(['is_labelled', 'is_assigned']).where('id', '=', id).executeTakeFirstOrThrow();

async function addLabel({ db, project }: World, title: string): Promise<number> {
  const values = { title, color: '#112233', project_id: project.id };
  return (await db.insertInto('labels').values(values).returning('id').executeTakeFirstOrThrow()).id;
}

const label = (db: Database, issue_id: number, label_id: number) =>
  db.insertInto('issue_labels').values({ issue_id, label_id }).execute();
const unlabel = (db: Database, issue_id: number, label_id: number) =>
  db.deleteFrom('issue_labels').where('issue_id', '=', issue_id).where('label_id', '=', label_id).execute();

test('an issue is labelled and assigned as long as it has a label and an assignee', async () => {
  const here = await world({});
  const path = `/projects/${here.project.id}/issues`;
  const owner = here.as('owner');
  const { body: bare } = await owner.post(path, { title: 'bare' });
  assert.deepEqual(await flagsOf(here, bare.id), { is_labelled: false, is_assigned: false });
  const { body: issue } = await owner.post(path, { title: 'i', labels: 'a,b', assignee_id: here.people.developer.id });
  assert.deepEqual(await flagsOf(here, issue.id), { is_labelled: true, is_assigned: true });
  await owner.put(`${path}/${issue.iid}`, {
    remove_labels: 'a',
    assignee_ids: [here.people.developer.id, here.people.owner.id],
  });
  assert.deepEqual(await flagsOf(here, issue.id), { is_labelled: true, is_assigned: true });
  await owner.put(`${path}/${issue.iid}`, { remove_labels: 'b', assignee_ids: [] });
  assert.deepEqual(await flagsOf(here, issue.id), { is_labelled: false, is_assigned: false });
  await owner.put(`${path}/${bare.iid}`, { add_labels: 'a', assignee_ids: [here.people.developer.id] });
  assert.deepEqual(await flagsOf(here, bare.id), { is_labelled: true, is_assigned: true });
  await owner.delete(`/projects/${here.project.id}/labels/a`);
  assert.deepEqual(await flagsOf(here, bare.id), { is_labelled: false, is_assigned: true });
});

test('of two transactions that change the labels of an issue, the later one sees what the other did', async () => {
  const here = await world({});
  const [first, second] = [await addLabel(here, 'first'), await addLabel(here, 'second')];
  for (const isRemovedFirst of [true, false]) {
    const { body } = await here
      .as('owner')
      .post(`/projects/${here.project.id}/issues`, { title: 'i', labels: 'first' });
    const changes = [(db: Database) => unlabel(db, body.id, first), (db: Database) => label(db, body.id, second)];
    const [one, other] = isRemovedFirst ? changes : changes.toReversed();
    const tx = await here.db.startTransaction().execute();
    await one!(tx);
    const later = other!(here.db);
    await Promise.race([later, untilLockWaits(here.db)]);
    await tx.commit().execute();
    await later;
    assert.equal((await flagsOf(here, body.id)).is_labelled, true, isRemovedFirst ? 'removed first' : 'added first');
  }
});

test('lists find issues that are older than what is kept, which a job fills in', async () => {
  const here = await world({});
  const path = `/projects/${here.project.id}/issues`;
  for (const [title, parameters] of Object.entries({
    bare: {},
    labelled: { labels: 'a' },
    assigned: { assignee_id: here.people.developer.id },
  }))
    await here.as('owner').post(path, { title, ...parameters });
  const ofProject = here.db.updateTable('issues').where('project_id', '=', here.project.id);
  await ofProject.set({ is_labelled: null, is_assigned: null }).execute();
  const titles = async (parameters: object): Promise<string[]> =>
    (await here.as('owner').get(path, { ...parameters, order_by: 'created_at', sort: 'asc' })).body.map(
      (issue: { title: string }) => issue.title,
    );
  const check = async (told: string) => {
    assert.deepEqual(await titles({ labels: 'None' }), ['bare', 'assigned'], told);
    assert.deepEqual(await titles({ labels: 'Any' }), ['labelled'], told);
    assert.deepEqual(await titles({ not: { labels: 'Any' }, assignee_id: 'None' }), ['bare'], told);
    assert.deepEqual(await titles({ assignee_id: 'None' }), ['bare', 'labelled'], told);
    assert.deepEqual(await titles({ assignee_id: 'Any' }), ['assigned'], told);
    assert.deepEqual(await titles({ state: 'opened', assignee_id: 'None', labels: 'a' }), ['labelled'], told);
    assert.deepEqual(await titles({ state: 'opened', labels: 'None' }), ['bare', 'assigned'], told);
  };
  await check('before');
  await performJob(here.services, fillIssueFlags);
  const filled = here.db
    .selectFrom('issues')
    .select(['title', 'is_labelled', 'is_assigned'])
    .where('project_id', '=', here.project.id);
  assert.deepEqual(await filled.orderBy('id').execute(), [
    { title: 'bare', is_labelled: false, is_assigned: false },
    { title: 'labelled', is_labelled: true, is_assigned: false },
    { title: 'assigned', is_labelled: false, is_assigned: true },
  ]);
  await check('after');
});
