import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { addIssue } from '../../../../test/support/issues.ts';
import { performQueued } from '../../../../test/support/jobs.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';
import { addUpOpenIssues } from './index.ts';

type Numbered = Pick<World['project'], 'id'>;

const issuesOf = ({ id }: Numbered) => `/projects/${id}/issues`;

async function otherProject({ as, group }: World): Promise<Numbered> {
  const { status, body } = await as('owner').post('/projects', { name: 'other', namespace_id: group.id });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

/** Shows that planners and guests see the number of open issues of each project, and guests without confidential ones. */
async function assertCounted({ as, db }: World, projects: readonly Numbered[]): Promise<void> {
  for (const { id } of projects) {
    const issues = await db
      .selectFrom('issues')
      .select(['state', 'confidential'])
      .where('project_id', '=', id)
      .execute();
    const open = issues.filter(({ state }) => state === 'opened');
    const shown = async (persona: Persona) => (await as(persona).get(`/projects/${id}`)).body.open_issues_count;
    assert.deepEqual(
      [await shown('planner'), await shown('guest')],
      [open.length, open.filter(({ confidential }) => !confidential).length],
    );
  }
}

const rowsOf = async ({ db }: World, projects: readonly Numbered[]) => {
  const ids = projects.map(({ id }) => id);
  const rows = await db.selectFrom('open_issue_counts').select(['project_id', 'opened', 'confidential']).execute();
  return rows.filter(({ project_id }) => ids.includes(project_id)).toSorted((a, b) => a.project_id - b.project_id);
};

test('every change of an issue is counted, even without a request, and the job adds up the counts', async () => {
  const here = await world();
  const { as, db, project } = here;
  const other = await otherProject(here);
  const both = [project, other];
  const counted = () => assertCounted(here, both);
  const change = async (iid: number, parameters: Record<string, unknown>) => {
    const { status, body } = await as('owner').put(`${issuesOf(project)}/${iid}`, parameters);
    assert.equal(status, 200, JSON.stringify(body));
    await counted();
  };
  await counted();
  for (const confidential of [true, true, false, false, false]) await addIssue(here, { confidential }, 'owner');
  await counted();
  assert.equal((await as('guest').get(`/projects/${project.id}`)).body.open_issues_count, 3);

  await change(1, { state_event: 'close' });
  await change(1, { confidential: false });
  await change(1, { state_event: 'reopen', confidential: true });
  await change(3, { state_event: 'close' });
  await change(4, { confidential: true });
  await change(4, { confidential: false, title: 'Seen by all' });
  await performQueued(here.services, [addUpOpenIssues]);
  assert.deepEqual(await rowsOf(here, both), [{ project_id: project.id, opened: 4, confidential: 2 }]);
  await counted();

  assert.equal((await as('owner').post(`${issuesOf(project)}/2/move`, { to_project_id: other.id })).status, 201);
  assert.equal((await as('owner').post(`${issuesOf(project)}/3/move`, { to_project_id: other.id })).status, 201);
  await counted();
  assert.equal((await as('owner').delete(`${issuesOf(project)}/1`)).status, 204);
  assert.equal((await as('owner').delete(`${issuesOf(project)}/3`)).status, 204);
  await counted();
  await performQueued(here.services, [addUpOpenIssues]);
  const sums = () => db.selectFrom('open_issue_counts').selectAll().orderBy('id').execute();
  const before = await sums();
  await performQueued(here.services, [addUpOpenIssues]);
  assert.deepEqual(await sums(), before);
  const summed = [
    { project_id: project.id, opened: 2, confidential: 0 },
    { project_id: other.id, opened: 1, confidential: 1 },
  ];
  assert.deepEqual(await rowsOf(here, both), summed);
  await counted();

  await sql`update issues set state = case state when 'opened' then 'closed' else 'opened' end, confidential = not confidential`.execute(
    db,
  );
  await counted();
  await sql`update issues set project_id = ${other.id}, iid = iid + 100 where project_id = ${project.id}`.execute(db);
  await counted();
  await db.deleteFrom('projects').where('id', '=', other.id).execute();
  await performQueued(here.services, [addUpOpenIssues]);
  assert.deepEqual(await rowsOf(here, both), []);
  await assertCounted(here, [project]);
});

test('moves in opposite directions, closes, new issues and the job go on at the same time, and all are counted', async () => {
  const here = await world();
  const { as, project } = here;
  const other = await otherProject(here);
  const projects = [project, other];
  const each = 8;
  for (const { id } of projects)
    for (let some = 0; some < 2 * each; some++)
      await addIssue({ as, project: { ...project, id } }, { confidential: some % 3 === 0 }, 'owner');
  const work = Array.from({ length: each }, (_, index) =>
    projects.flatMap((from, which) => [
      as('owner').post(`${issuesOf(from)}/${index + 1}/move`, { to_project_id: projects[1 - which]!.id }),
      as('owner').put(`${issuesOf(from)}/${each + index + 1}`, { state_event: 'close' }),
      as('owner').post(issuesOf(from), { title: 'Meanwhile' }),
      performQueued(here.services, [addUpOpenIssues]).then(() => ({ status: 200, body: undefined })),
    ]),
  );
  for (const { status, body } of await Promise.all(work.flat())) assert.ok(status < 300, JSON.stringify(body));
  await assertCounted(here, projects);
  await performQueued(here.services, [addUpOpenIssues]);
  assert.equal((await rowsOf(here, projects)).length, 2);
  await assertCounted(here, projects);
});
