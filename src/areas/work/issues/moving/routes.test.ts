import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssue } from '../../../../../test/support/issues.ts';
import { randomFrom, seedOfToday } from '../../../../../test/support/random.ts';
import { fetchFrom, upload } from '../../../../../test/support/uploads.ts';
import { type Persona, type World, world } from '../../../../../test/support/world.ts';

const issuesOf = (project: { id: number }) => `/projects/${project.id}/issues`;

const added = (here: World, persona: Persona, parameters = {}, project: Pick<World['project'], 'id'> = here.project) =>
  addIssue({ as: here.as, project: { ...here.project, ...project } }, parameters, persona);

/** Another project of the group. */
async function otherProject({ as, group }: World, name: string, parameters: Record<string, unknown> = {}) {
  const { status, body } = await as('owner').post('/projects', { name, namespace_id: group.id, ...parameters });
  assert.equal(status, 201, JSON.stringify(body));
  return body as { id: number; path_with_namespace: string };
}

const notesOn = async ({ db }: World, issue_id: number) =>
  (
    await db.selectFrom('notes').select(['body', 'system']).where('issue_id', '=', issue_id).orderBy('id').execute()
  ).map(({ body, system }) => (system ? `* ${body}` : body));

/** The iids of a project's issues in manual order. */
const order = async ({ as, project }: World): Promise<number[]> => {
  const { body } = await as('guest').get(issuesOf(project), {
    order_by: 'relative_position',
    sort: 'asc',
    per_page: 100,
  });
  return body.map(({ iid }: { iid: number }) => iid);
};

test('issues keep their manual position, and new ones come last', async () => {
  const here = await world();
  const issues = await Promise.all([1, 2, 3, 4].map(() => added(here, 'guest')));
  const id = (iid: number) => issues.find((issue) => issue.iid === iid)?.id;
  const before = await order(here);
  const move = async (iid: number, parameters: Record<string, unknown>) => {
    const { status, body } = await here.as('planner').put(`${issuesOf(here.project)}/${iid}/reorder`, parameters);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.iid, iid);
    return order(here);
  };
  const [a, b, c, d] = before as [number, number, number, number];
  assert.deepEqual(await move(a, { move_after_id: id(b) }), [b, a, c, d]);
  assert.deepEqual(await move(d, { move_before_id: id(b) }), [d, b, a, c]);
  assert.deepEqual(await move(c, { move_after_id: id(d), move_before_id: id(b) }), [d, c, b, a]);
  assert.deepEqual(await move(d, { move_after_id: id(a) }), [c, b, a, d]);
  assert.deepEqual(await move(d, { move_after_id: 0, move_before_id: id(c) }), [d, c, b, a]);
  assert.deepEqual(await move(d, {}), [d, c, b, a]);
  const last = await added(here, 'guest');
  assert.deepEqual(await order(here), [d, c, b, a, last.iid]);

  const elsewhere = await added(here, 'owner', {}, await otherProject(here, 'other'));
  for (const parameters of [
    { move_after_id: 0, move_before_id: 0 },
    { move_after_id: 987_654_321 },
    { move_after_id: elsewhere.id },
    { move_after_id: id(d) },
    { move_after_id: id(a), move_before_id: id(c) },
  ]) {
    const { status, body } = await here.as('planner').put(`${issuesOf(here.project)}/${d}/reorder`, parameters);
    assert.deepEqual([status, body], [422, { message: 'Unprocessable Entity' }], JSON.stringify(parameters));
  }
  assert.equal(
    (await here.as('guest').put(`${issuesOf(here.project)}/${d}/reorder`, { move_after_id: id(a) })).status,
    200,
  );
  assert.equal(
    (await here.as('reporter').put(`${issuesOf(here.project)}/99/reorder`, {})).body.message,
    '404 Issue Not Found',
  );
});

test('positions never run out: hundreds of moves to the same few positions keep the right order', async () => {
  const here = await world();
  const random = randomFrom(seedOfToday());
  const client = here.as('planner');
  const issues = await Promise.all(Array.from({ length: 24 }, () => added(here, 'planner')));
  const ids = new Map(issues.map(({ iid, id }) => [iid, id]));
  const meant = await order(here);
  for (let move = 0; move < 400; move++) {
    const iid = meant[random.below(meant.length)]!;
    meant.splice(meant.indexOf(iid), 1);
    // Mostly into the same gap, which exhausts positions.
    const at = random.happens(70) ? 1 : random.below(meant.length);
    const neighbors = random.of([
      { move_after_id: ids.get(meant[at - 1] ?? meant[at]!) },
      { move_before_id: ids.get(meant[at]!) },
    ]);
    const target = neighbors.move_after_id !== undefined ? meant.indexOf(meant[at - 1] ?? meant[at]!) + 1 : at;
    meant.splice(target, 0, iid);
    const { status } = await client.put(`${issuesOf(here.project)}/${iid}/reorder`, neighbors);
    assert.equal(status, 200);
  }
  assert.deepEqual(await order(here), meant);
  const late = await added(here, 'guest');
  assert.deepEqual(await order(here), [...meant, late.iid]);
});

test('concurrent reordering never leaves two issues at one position', async () => {
  const here = await world();
  const issues = await Promise.all(Array.from({ length: 12 }, () => added(here, 'planner')));
  const moves = issues.flatMap(({ iid }, index) =>
    [1, 5, 7].map((step) =>
      here
        .as('planner')
        .put(`${issuesOf(here.project)}/${iid}/reorder`, { move_after_id: issues[(index + step) % 12]!.id }),
    ),
  );
  for (const { status } of await Promise.all(moves)) assert.equal(status, 200);
  const rows = await here.db
    .selectFrom('issues')
    .select('relative_position')
    .where('project_id', '=', here.project.id)
    .execute();
  assert.equal(new Set(rows.map(({ relative_position }) => relative_position)).size, 12);
});

test('a move transfers all data of an issue, and the old issue references the new one', async () => {
  const here = await world();
  const { as, people, project, db, group } = here;
  const target = await otherProject(here, 'target');
  const [first, blocked] = [
    await added(here, 'planner', { title: 'First' }),
    await added(here, 'planner', { title: 'Blocked' }),
  ];
  const group_label = (await as('owner').post(`/groups/${group.id}/labels`, { name: 'ours', color: '#ff0000' })).body;
  for (const each of [project, target])
    await as('owner').post(`/projects/${each.id}/labels`, { name: 'both', color: '#00ff00' });
  await as('owner').post(`/projects/${project.id}/labels`, { name: 'only here', color: '#0000ff' });
  const milestone = (await as('owner').post(`/projects/${project.id}/milestones`, { title: 'One' })).body;
  const there = (await as('owner').post(`/projects/${target.id}/milestones`, { title: 'One' })).body;
  const moving = await added(here, 'guest', {
    title: 'Moving',
    description: `See #${first.iid}, ~both, %"One", @${people.guest.username} and target#1.`,
    labels: [],
    confidential: true,
  });
  const path = `${issuesOf(project)}/${moving.iid}`;
  await as('planner').put(path, {
    labels: ['both', 'ours', 'only here'],
    milestone_id: milestone.id,
    assignee_ids: [people.reporter.id],
    due_date: '2031-01-01',
    weight: 4,
    discussion_locked: true,
  });
  await as('planner').post(`${path}/time_estimate`, { duration: '2h' });
  await as('planner').post(`${path}/add_spent_time`, { duration: '1h', summary: 'thinking' });
  await as('owner').post(`${path}/links`, {
    target_project_id: project.id,
    target_issue_iid: blocked.iid,
    link_type: 'blocks',
  });
  await as('reporter').post(`${path}/links`, {
    target_project_id: project.id,
    target_issue_iid: blocked.iid,
    link_type: 'blocks',
  });
  await as('developer').post(`${path}/award_emoji`, { name: 'thumbsup' });
  await as('developer').post(`${path}/notes`, { body: `Like #${first.iid}.` });
  await as('owner').post(`${path}/unsubscribe`);
  await as('maintainer').post(`${path}/subscribe`);
  const before = (await as('planner').get(path)).body;

  const { status, body: moved } = await as('planner').post(`${path}/move`, { to_project_id: target.id });
  assert.equal(status, 201, JSON.stringify(moved));
  const same = [
    'title',
    'created_at',
    'confidential',
    'due_date',
    'weight',
    'discussion_locked',
    'time_stats',
    'state',
    'upvotes',
    'user_notes_count',
  ];
  for (const name of same) assert.deepEqual(moved[name], before[name], name);
  assert.deepEqual(
    [moved.iid, moved.project_id, moved.author.id, moved.assignee.id],
    [1, target.id, people.guest.id, people.reporter.id],
  );
  assert.deepEqual([moved.labels, moved.milestone.id], [['both', 'ours'], there.id]);
  assert.ok(group_label.id);
  const source = project.full_path;
  assert.equal(
    moved.description,
    `See ${source}#${first.iid}, ${source}~both, ${source}%"One", @${people.guest.username} and ${group.path}/target#1.`,
  );
  const { body: links } = await as('planner').get(`${issuesOf(target)}/1/links`);
  assert.deepEqual(
    links.map(({ id, link_type }: { id: number; link_type: string }) => [id, link_type]),
    [[blocked.id, 'is_blocked_by']],
  );
  assert.equal((await as('maintainer').get(`${issuesOf(target)}/1`)).body.subscribed, true);
  assert.equal((await as('guest').get(`${issuesOf(target)}/1`)).body.subscribed, true);
  const notes = await notesOn(here, moved.id);
  assert.ok(notes.includes(`Like ${source}#${first.iid}.`), notes.join('\n'));
  assert.equal(notes.at(-1), `* moved from ${source}#${moving.iid}`);
  const logged = await db
    .selectFrom('timelogs')
    .select(['time_spent_s', 'summary'])
    .where('issue_id', '=', moved.id)
    .execute();
  assert.deepEqual(logged, [{ time_spent_s: 3600, summary: 'thinking' }]);

  const old = (await as('planner').get(path)).body;
  assert.deepEqual([old.state, old.moved_to_id, old.closed_by.id], ['closed', moved.id, people.planner.id]);
  assert.equal((await notesOn(here, moving.id)).at(-1), `* moved to ${target.path_with_namespace}#1`);
  const again = await as('planner').post(`${path}/move`, { to_project_id: target.id });
  assert.deepEqual([again.status, again.body.message], [400, 'Cannot move work item due to insufficient permissions.']);
  assert.equal((await as('planner').put(path, { state_event: 'reopen' })).body.moved_to_id, null);
});

test('tasks are moved and cloned as issues of the other types are, with their links', async () => {
  const here = await world();
  const { as, project } = here;
  const target = await otherProject(here, 'target');
  const parent = await added(here, 'planner', { title: 'Parent' });
  for (const issue_type of ['task', 'incident', 'test_case']) {
    const { iid } = await added(here, 'owner', { issue_type, title: issue_type });
    const path = `${issuesOf(project)}/${iid}`;
    const linked = await as('owner').post(`${path}/links`, {
      target_project_id: project.id,
      target_issue_iid: parent.iid,
    });
    assert.equal(linked.status, 201);
    const cloned = await as('planner').post(`${path}/clone`, { to_project_id: project.id });
    assert.deepEqual([cloned.status, cloned.body.issue_type], [201, issue_type]);
    const moved = await as('planner').post(`${path}/move`, { to_project_id: target.id });
    assert.deepEqual([moved.status, moved.body.issue_type, moved.body.project_id], [201, issue_type, target.id]);
    const links = (await as('planner').get(`${issuesOf(target)}/${moved.body.iid}/links`)).body;
    assert.deepEqual(
      links.map(({ id }: { id: number }) => id),
      [parent.id],
    );
    const old = (await as('planner').get(path)).body;
    assert.deepEqual([old.state, old.moved_to_id], ['closed', moved.body.id]);
  }
});

test('a refused move or clone says why, and changes nothing', async () => {
  const here = await world();
  const { as, project, db } = here;
  const target = await otherProject(here, 'target');
  const { iid } = await added(here, 'guest');
  const stranger = await here.person();
  const foreign = (await stranger.client.post('/projects', { name: 'foreign' })).body;
  const going = async (persona: Persona, verb: 'move' | 'clone', parameters: Record<string, unknown>, number = iid) => {
    const { status, body } = await as(persona).post(`${issuesOf(project)}/${number}/${verb}`, parameters);
    return [status, body.message];
  };
  const same = 'Cannot move work item to same project or group it originates from.';
  assert.deepEqual(await going('planner', 'move', { to_project_id: project.id }), [400, same]);
  for (const verb of ['move', 'clone'] as const) {
    const refused = [400, `Cannot ${verb} work item due to insufficient permissions.`];
    assert.deepEqual(await going('guest', verb, { to_project_id: target.id }), refused);
    assert.deepEqual(await going('planner', verb, { to_project_id: foreign.id }), refused);
    assert.deepEqual(await going('planner', verb, { to_project_id: 987_654_321 }), [404, '404 Project Not Found']);
    assert.deepEqual(await going('planner', verb, {}), [400, 'to_project_id is missing']);
    assert.deepEqual(await going('planner', verb, { to_project_id: target.id }, 99), [404, '404 Issue Not Found']);
  }
  await db
    .updateTable('projects')
    .set({ marked_for_deletion_at: new Date().toISOString() })
    .where('id', '=', target.id)
    .execute();
  assert.deepEqual(await going('owner', 'move', { to_project_id: target.id }), [
    400,
    'Cannot move work item to target namespace as it is pending deletion.',
  ]);
  const rows = await db.selectFrom('issues').select('id').where('project_id', 'in', [target.id, foreign.id]).execute();
  assert.deepEqual(rows, []);
  assert.equal((await as('guest').get(`${issuesOf(project)}/${iid}`)).body.state, 'opened');
});

test('a clone is a new issue by its creator, with comments only on request', async () => {
  const here = await world();
  const { as, people, project } = here;
  const target = await otherProject(here, 'target');
  const issue = await added(here, 'planner', {
    description: '#1',
    labels: 'here',
    weight: 2,
    assignee_ids: [people.guest.id],
  });
  const path = `${issuesOf(project)}/${issue.iid}`;
  await as('developer').post(`${path}/award_emoji`, { name: 'thumbsup' });
  await as('developer').post(`${path}/notes`, { body: 'A comment' });
  await as('planner').put(path, { state_event: 'close' });
  const before = (await as('planner').get(path)).body;
  const clone = async (parameters: Record<string, unknown>) => {
    const { status, body } = await as('reporter').post(`${path}/clone`, parameters);
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  };
  const inside = await clone({ to_project_id: project.id });
  assert.deepEqual([inside.iid, inside.author.id, inside.state, inside.upvotes], [2, people.reporter.id, 'opened', 0]);
  assert.deepEqual([inside.labels, inside.weight, inside.description], [['here'], 2, '#1']);
  assert.deepEqual(usernamesOf(inside), [people.guest.username]);
  assert.ok(inside.created_at > before.created_at);
  assert.deepEqual(await notesOn(here, inside.id), ['* cloned from #1']);
  const there = await clone({ to_project_id: target.id, with_notes: true });
  assert.deepEqual([there.iid, there.labels, there.description], [1, [], `${project.full_path}#1`]);
  const notes = await notesOn(here, there.id);
  assert.ok(notes.includes('A comment'));
  assert.equal(notes.at(-1), `* cloned from ${project.full_path}#1`);
  const { updated_at: _, ...after } = (await as('planner').get(path)).body;
  const { updated_at: __, ...unchanged } = before;
  assert.deepEqual(after, unchanged);
  assert.deepEqual((await notesOn(here, issue.id)).slice(-2), [
    '* cloned to #2',
    `* cloned to ${target.path_with_namespace}#1`,
  ]);
});

const usernamesOf = ({ assignees }: { assignees: { username: string }[] }) => assignees.map(({ username }) => username);

test('moved, cloned and promoted issues get copies of their uploads, whose bytes stay as long as one of them exists', async () => {
  const here = await world();
  const { as, project, group, db, services } = here;
  const place = `/projects/${project.id}`;
  const [image, notes] = await Promise.all(
    ['a.png', 'notes.txt'].map(async (name) => (await upload(here, 'reporter', place, name, name)).body),
  );
  const unknown = `/uploads/${'0'.repeat(32)}/a.png`;
  const description = `${image.markdown} and ${image.markdown}, ${unknown}, ${image.full_path}`;
  const issue = await added(here, 'planner', { description });
  await as('reporter').post(`${issuesOf(project)}/${issue.iid}/notes`, { body: `See ${notes.markdown}` });
  const other = await otherProject(here, 'other');

  const readable = async (text: string, target: string, content: string) => {
    const [address] = /\/uploads\/[0-9a-f]{32}\/[\w.]+/.exec(text)!;
    const answer = await fetchFrom(here, `${target}${address.slice('/uploads'.length)}`, 'guest');
    assert.deepEqual([answer.status, await answer.text()], [200, content]);
    return address;
  };
  const there = `/-/project/${other.id}/uploads`;
  const clone = await as('planner').post(`${issuesOf(project)}/${issue.iid}/clone`, {
    to_project_id: other.id,
    with_notes: true,
  });
  const copy = await readable(clone.body.description, there, 'a.png');
  assert.notEqual(copy, image.url);
  assert.equal(clone.body.description, `![a](${copy}) and ![a](${copy}), ${unknown}, ${image.full_path}`);
  await readable((await notesOn(here, clone.body.id))[0]!, there, 'notes.txt');
  const same = await as('planner').post(`${issuesOf(project)}/${issue.iid}/clone`, { to_project_id: project.id });
  assert.equal(same.body.description, description);

  await as('planner').post(`${issuesOf(project)}/${same.body.iid}/notes`, { body: notes.markdown });
  await as('planner').post(`${issuesOf(project)}/${same.body.iid}/notes`, { body: '/promote' });
  const [epic] = (await as('planner').get(`/groups/${group.id}/epics`)).body;
  await readable(epic.description, `/-/group/${group.id}/uploads`, 'a.png');
  const epicNotes = (await as('planner').get(`/groups/${group.id}/epics/${epic.id}/notes`, { sort: 'asc' })).body;
  const [carried] = epicNotes.filter(({ system }: { system: boolean }) => !system);
  await readable(carried.body, `/-/group/${group.id}/uploads`, 'notes.txt');

  const moved = await as('planner').post(`${issuesOf(project)}/${issue.iid}/move`, { to_project_id: other.id });
  await readable(moved.body.description, there, 'a.png');
  const { blob_key } = await db
    .selectFrom('uploads')
    .select('blob_key')
    .where('id', '=', image.id)
    .executeTakeFirstOrThrow();
  const ids = await db
    .selectFrom('uploads')
    .select(['id', 'project_id'])
    .where('blob_key', '=', blob_key)
    .orderBy('id')
    .execute();
  assert.equal(ids.length, 4);
  for (const { id, project_id } of ids) {
    await readable(moved.body.description, there, 'a.png');
    const at = project_id === null ? `/groups/${group.id}` : `/projects/${project_id}`;
    assert.equal((await as('owner').delete(`${at}/uploads/${id}`)).status, 204);
  }
  assert.equal(await services.blobs.read(blob_key as `${string}/${string}`), undefined);
});
