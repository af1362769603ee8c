import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { addEpic } from '../../../../../test/support/epics.ts';
import { addIssue } from '../../../../../test/support/issues.ts';
import { type Persona, type World, world } from '../../../../../test/support/world.ts';

const issuesOf = ({ group }: World, { iid }: { iid: number }) => `/groups/${group.id}/epics/${iid}/issues`;
const titles = (body: { title: string }[]) => body.map(({ title }) => title);

async function notesOn({ db }: World, on: { epic_id: number } | { issue_id: number }): Promise<string[]> {
  const [[column, id]] = Object.entries(on) as [['epic_id' | 'issue_id', number]];
  const rows = await db
    .selectFrom('notes')
    .select('body')
    .where(column, '=', id)
    .where('system', '=', true)
    .orderBy('id')
    .execute();
  return rows.map(({ body }) => body);
}

test('issues are added to an epic, moved to another, reordered and removed', async () => {
  const here = await world();
  const { as, project } = here;
  const [epic, other] = [await addEpic(here, { title: 'one' }), await addEpic(here, { title: 'other' })];
  const [a, b, c] = [
    await addIssue(here, { title: 'a' }),
    await addIssue(here, { title: 'b' }),
    await addIssue(here, { title: 'c' }),
  ];
  const path = issuesOf(here, epic);
  const links: Record<string, number> = {};
  for (const issue of [c, b, a]) {
    const { status, body } = await as('guest').post(`${path}/${issue.id}`);
    assert.equal(status, 201);
    assert.deepEqual(
      [body.epic.id, body.issue.id, body.issue.title, body.epic.labels],
      [epic.id, issue.id, issue.title, []],
    );
    links[issue.title] = body.id;
  }
  const list = await as('guest').get(path);
  assert.deepEqual(titles(list.body), ['a', 'b', 'c'], 'the last one added comes first');
  const [first] = list.body;
  assert.equal(first.epic_issue_id, links.a);
  assert.equal(typeof first.relative_position, 'number');
  assert.equal(first.references.relative, `${project.full_path}#${a.iid}`);
  const place = (title: string, changes: object) => as('guest').put(`${path}/${links[title]}`, { ...changes });
  assert.deepEqual(titles((await place('a', { move_before_id: links.b })).body), ['b', 'a', 'c']);
  assert.deepEqual(titles((await place('c', { move_after_id: links.b })).body), ['c', 'b', 'a']);
  const misplaced = await place('c', { move_after_id: 999_999_999 });
  assert.deepEqual([misplaced.status, misplaced.body.message], [400, 'Issue could not be moved!']);
  assert.equal((await place('c', { move_after_id: links.c })).status, 400);
  assert.match((await place('c', {})).body.message, /^move_before_id, move_after_id are missing/);

  const moved = await as('guest').post(`${issuesOf(here, other)}/${a.id}`);
  assert.deepEqual([moved.status, moved.body.id], [201, links.a]);
  assert.deepEqual(titles((await as('guest').get(path)).body), ['c', 'b']);
  const again = await as('guest').post(`${issuesOf(here, other)}/${a.id}`);
  assert.deepEqual([again.status, again.body.message], [409, 'Issue(s) already assigned']);
  assert.equal((await as('guest').delete(`${path}/${links.a}`)).status, 404, 'it is in another epic');
  const taken = await as('guest').delete(`${issuesOf(here, other)}/${links.a}`);
  assert.deepEqual(
    [taken.status, taken.body.id, taken.body.issue.id, taken.body.epic.id],
    [200, links.a, a.id, other.id],
  );

  const reference = `${project.full_path}#${a.iid}`;
  assert.deepEqual(await notesOn(here, { issue_id: a.id }), [
    'added to epic &1',
    'changed epic to &2',
    'removed from epic &2',
  ]);
  assert.deepEqual((await notesOn(here, { epic_id: epic.id })).slice(2), [
    `added issue ${reference}`,
    `moved issue ${reference} to epic &2`,
  ]);
  assert.deepEqual(await notesOn(here, { epic_id: other.id }), [
    `added issue ${reference} from epic &1`,
    `removed issue ${reference}`,
  ]);
});

test('an issue shows its epic to those who may read it, and its epic can be set with the issue', async () => {
  const here = await world();
  const { as, project, group } = here;
  const epic = await addEpic(here, { title: 'Harvest' });
  const hidden = await addEpic(here, { confidential: true });
  const issue = await addIssue(here, { epic_id: epic.id });
  const path = `/projects/${project.id}/issues/${issue.iid}`;
  const shown = {
    id: epic.id,
    iid: epic.iid,
    title: 'Harvest',
    url: `/groups/${group.full_path}/-/epics/${epic.iid}`,
    group_id: group.id,
  };
  assert.deepEqual(
    [(await as('guest').get(path)).body.epic, (await as('guest').get(path)).body.epic_iid],
    [shown, epic.iid],
  );
  assert.deepEqual(titles((await as('guest').get(issuesOf(here, epic))).body), ['An issue']);
  assert.equal((await as('planner').put(path, { epic_id: 0 })).body.epic, null);
  assert.deepEqual((await as('guest').get(issuesOf(here, epic))).body, []);
  assert.deepEqual((await as('planner').put(path, { epic_iid: epic.iid })).body.epic, shown);
  const refused = await as('planner').put(path, { epic_id: hidden.id });
  assert.deepEqual(
    [refused.status, refused.body.message],
    [422, 'Cannot set confidential epic for a non-confidential issue'],
  );
  const unknown = await as('planner').put(path, { epic_id: 999_999_999, title: 'not changed' });
  assert.equal(unknown.status, 422);
  assert.equal((await as('guest').get(path)).body.title, 'An issue');
  await as('planner').put(path, { confidential: true });
  assert.equal((await as('planner').put(path, { epic_id: hidden.id })).body.epic.id, hidden.id);
  const inEpic = await as('owner').get(`/projects/${project.id}/issues`, { epic_id: hidden.id });
  assert.deepEqual(
    inEpic.body.map(({ id }: { id: number }) => id),
    [issue.id],
  );
});

test('adding an issue to an epic needs the right to read it and a membership in its project', async () => {
  const here = await world();
  const { as, db, project } = here;
  const epic = await addEpic(here);
  const issue = await addIssue(here);
  const secret = await addIssue(here, { confidential: true });
  const path = issuesOf(here, epic);
  const missing = 'No matching issue found. Make sure that you are adding a valid issue URL.';
  for (const [persona, id, status, message] of [
    ['guest', 999_999_999, 404, missing],
    ['guest', secret.id, 404, missing],
    ['outsider', issue.id, 404, '404 Group Not Found'],
    ['anonymous', issue.id, 401, '401 Unauthorized'],
  ] as [Persona | 'anonymous', number, number, string][]) {
    const refused = await as(persona).post(`${path}/${id}`);
    assert.deepEqual([refused.status, refused.body.message], [status, message]);
  }
  assert.equal((await as('guest').post(`${path}/x`)).body.message, 'issue_id is invalid');
  await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();
  await db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();
  assert.equal((await as('outsider').post(`${path}/${issue.id}`)).status, 403);
  assert.equal((await as('anonymous').get(path)).status, 401);
  const link = (await as('owner').post(`${path}/${issue.id}`)).body.id;
  assert.deepEqual(titles((await as('outsider').get(path)).body), ['An issue']);
  assert.equal((await as('outsider').delete(`${path}/${link}`)).status, 403);
  assert.equal((await as('outsider').put(`${path}/${link}`, { move_after_id: link })).status, 403);
  await db.updateTable('projects').set({ archived: true }).where('id', '=', project.id).execute();
  assert.equal((await as('owner').delete(`${path}/${link}`)).status, 403);
  assert.equal((await as('owner').get(path)).body.length, 1);
});

test('confidential issues are listed to their readers only, and a confidential epic takes no public issues', async () => {
  const here = await world();
  const { as } = here;
  const [epic, hidden] = [await addEpic(here), await addEpic(here, { confidential: true })];
  const [open, secret] = [
    await addIssue(here, { title: 'open' }),
    await addIssue(here, { title: 'secret', confidential: true }),
  ];
  for (const { id } of [open, secret]) await as('owner').post(`${issuesOf(here, epic)}/${id}`);
  const seen = await as('guest').get(issuesOf(here, epic));
  assert.deepEqual([titles(seen.body), seen.headers.get('x-total')], [['open'], '1']);
  assert.deepEqual(titles((await as('planner').get(issuesOf(here, epic))).body), ['secret', 'open']);
  const refused = await as('owner').post(`${issuesOf(here, hidden)}/${open.id}`);
  assert.deepEqual(
    [refused.status, refused.body.message],
    [422, `#${open.iid} cannot be added: Cannot set confidential epic for a non-confidential issue`],
  );
  assert.deepEqual(
    titles((await as('owner').get(issuesOf(here, epic))).body),
    ['secret', 'open'],
    'it stays where it was',
  );
  assert.equal((await as('owner').post(`${issuesOf(here, hidden)}/${secret.id}`)).status, 201);
  assert.equal((await as('guest').get(issuesOf(here, hidden))).status, 404);
});

test('concurrent assignments of an issue to epics are serialised', async () => {
  const here = await world();
  const [one, other] = [await addEpic(here), await addEpic(here)];
  const issue = await addIssue(here);
  const answers = await Promise.all(
    [one, other].map((epic) => here.as('owner').post(`${issuesOf(here, epic)}/${issue.id}`)),
  );
  assert.deepEqual(
    answers.map(({ status }) => status).filter((status) => status !== 201),
    [],
  );
  const notes = await notesOn(here, { issue_id: issue.id });
  assert.match(notes[0]!, /^added to epic &[12]$/);
  assert.match(notes[1]!, /^changed epic to &[12]$/);
});

test('a longer list needs no more statements', async (t) => {
  const here = await world();
  const epic = await addEpic(here);
  for (const n of Array(6).keys())
    await addIssue(here, { title: `issue ${n}`, labels: `label ${n}`, epic_id: epic.id });
  const query = t.mock.method(pg.Client.prototype, 'query');
  const statements = async (per_page: number) => {
    const before = query.mock.callCount();
    assert.equal((await here.as('owner').get(issuesOf(here, epic), { per_page })).body.length, per_page);
    return query.mock.callCount() - before;
  };
  const few = await statements(1);
  assert.ok(few > 0);
  assert.equal(await statements(5), few);
});
