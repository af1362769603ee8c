/** What moves leads to nothing of the groups that it has left (docs/reference/projects.md#transfer). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { filledWorld } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import { today } from '../../../cron/index.ts';

/** A project in a group below a private one, whose labels, milestones and iterations are used in every way. */
async function planned() {
  const here = await filledWorld();
  const { as, group, people, db } = here;
  const owner = as('owner');
  const stranger = await here.person();
  const newGroup = async (path: string) => {
    const made = await sent(as('admin').post('/groups', { name: path, path, visibility: 'private' }));
    await sent(as('admin').post(`/groups/${made.id}/members`, { user_id: people.owner.id, access_level: 50 }));
    return made as { id: number };
  };
  const [secret, there] = [await newGroup(`secret-${group.id}`), await newGroup(`there-${group.id}`)];
  await sent(as('admin').post(`/groups/${there.id}/members`, { user_id: stranger.id, access_level: 20 }));
  await sent(owner.post(`/groups/${group.id}/transfer`, { group_id: secret.id }));
  const of = `/groups/${secret.id}`;
  const milestones: Record<string, number> = {};
  for (const title of ['Released', 'Planned', 'Former', 'Shared'])
    milestones[title] = (await sent(owner.post(`${of}/milestones`, { title: `M${title}`, description: 'Hush' }))).id;
  for (const name of ['LNow', 'LFormer', 'LShared']) await sent(owner.post(`${of}/labels`, { name, color: '#aabbcc' }));
  await sent(owner.post(`/groups/${there.id}/milestones`, { title: 'MShared' }));
  await sent(owner.post(`/groups/${there.id}/labels`, { name: 'LShared', color: '#aabbcc' }));
  const cadence = {
    title: 'Weeks',
    automatic: true,
    start_date: today(),
    duration_in_weeks: 1,
    iterations_in_advance: 2,
  };
  await sent(owner.post(`${of}/iteration_cadences`, cadence));
  const [iteration] = await sent(owner.get(`${of}/iterations`));
  const epic = await sent(owner.post(`${of}/epics`, { title: 'ESecret' }));
  const project = `/projects/${here.project.id}`;
  const issue = await sent(
    owner.post(`${project}/issues`, { title: 'Pick', labels: 'LFormer,LShared', milestone_id: milestones.Former }),
  );
  const at = `${project}/issues/${issue.iid}`;
  await sent(owner.put(at, { milestone_id: milestones.Shared }));
  await sent(owner.put(at, { milestone_id: milestones.Planned, labels: 'LNow', iteration_id: iteration.id }));
  await sent(owner.post(`${of}/epics/${epic.iid}/issues/${issue.id}`));
  const milestone_ids = [milestones.Released, milestones.Shared];
  await sent(owner.post(`${project}/releases`, { tag_name: 'v1', ref: 'main', milestone_ids }));
  /** What a member of the new group reads, after the group that was left has changed its names. */
  const read = async () => {
    for (const table of ['labels', 'milestones', 'iterations'])
      await sql`update ${sql.table(table)} set title = coalesce(title, '') || ' renamed' where group_id = ${secret.id}`.execute(
        db,
      );
    const client = stranger.client;
    const shown = await Promise.all(
      [
        at,
        `${project}/releases/v1`,
        ...['label', 'milestone', 'iteration'].map((of) => `${at}/resource_${of}_events`),
      ].map(async (path) => (await sent(client.get(path))) as Record<string, never>),
    );
    const found = (await sent(client.get(`${project}/issues`, { iteration_id: iteration.id }))).length;
    assert.doesNotMatch(JSON.stringify(shown), /renamed|ESecret|"iteration":\{/);
    const [now, release, labels, planning, iterations] = shown as unknown as [
      { milestone: { title: string }; labels: string[]; iteration: null; epic: null },
      { milestones: { title: string }[] },
      { action: string; label: { name: string } | null }[],
      { action: string; milestone: { title: string } }[],
      unknown[],
    ];
    return {
      now: [now.milestone.title, now.labels, now.iteration, now.epic],
      released: release.milestones.map(({ title }) => title).toSorted(),
      labels: labels.map(({ action, label }) => `${action} ${label?.name ?? ''}`).toSorted(),
      planning: planning.map(({ action, milestone }) => `${action} ${milestone.title}`).toSorted(),
      iterations,
      found,
    };
  };
  return { ...here, there, base: project, read };
}

const expected = {
  now: ['MPlanned', ['LNow'], null, null],
  released: ['MReleased', 'MShared'],
  labels: ['add ', 'add LNow', 'add LShared', 'remove ', 'remove LShared'],
  planning: ['add MPlanned', 'add MShared'],
  iterations: [],
  found: 0,
};

test('a transferred project shows nothing of the group that it leaves', async () => {
  const { as, base, there, read } = await planned();
  await sent(as('owner').put(`${base}/transfer`, { namespace: there.id }));
  assert.deepEqual(await read(), expected);
});

test('a transferred group shows nothing of the group that it leaves', async () => {
  const { as, group, there, read } = await planned();
  await sent(as('owner').post(`/groups/${group.id}/transfer`, { group_id: there.id }));
  assert.deepEqual(await read(), expected);
});
