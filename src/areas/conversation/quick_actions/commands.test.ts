import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Persona, type World, world } from '../../../../test/support/world.ts';

const could = (name: string) => `Could not apply ${name} command.`;

async function addIssue({ as, project }: World, values: object = {}) {
  const added = await as('planner').post(`/projects/${project.id}/issues`, { title: 'Mend the fence', ...values });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  return added.body as { id: number; iid: number; description: string | null } & Record<string, unknown>;
}

/** A world with an issue, and the messages and effects of commands on it. */
async function issueWorld(values: object = {}) {
  const here = await world();
  const issue = await addIssue(here, values);
  const url = `/projects/${here.project.id}/issues/${issue.iid}`;
  /** Comments of commands only: the summary, and the attributes reported as changed. */
  const command = async (body: string, persona: Persona = 'planner') => {
    const answer = await here.as(persona).post(`${url}/notes`, { body });
    assert.equal(answer.status, 202, JSON.stringify(answer.body));
    return answer.body as { summary: string[]; commands_changes: Record<string, unknown> };
  };
  const said = async (body: string, persona: Persona = 'planner') => (await command(body, persona)).summary;
  /** The reply when no command could be applied. */
  const refused = async (body: string, persona: Persona = 'planner') => {
    const answer = await here.as(persona).post(`${url}/notes`, { body });
    assert.equal(answer.status, 400, JSON.stringify(answer.body));
  };
  const shown = async () => (await here.as('planner').get(url)).body;
  return { here, issue, url, command, said, refused, shown };
}

test('commands close, reopen and rename an issue', async () => {
  const { command, said, refused, shown } = await issueWorld();
  assert.deepEqual(await command('/close'), {
    summary: ['Closed this issue.'],
    commands_changes: { state_event: 'close' },
  });
  assert.equal((await shown()).state, 'closed');
  await refused('/close');
  assert.deepEqual(await said('/reopen\n/title  A new gate '), [
    'Reopened this issue.',
    'Changed the title to "A new gate".',
  ]);
  const { state, title, user_notes_count } = await shown();
  assert.deepEqual([state, title, user_notes_count], ['opened', 'A new gate', 0]);
  await refused(`/title ${'x'.repeat(256)}`);
  await refused('/title');
});

test('a command next to text is applied, and the text becomes the comment', async () => {
  const { here, url, shown } = await issueWorld();
  const answer = await here.as('planner').post(`${url}/notes`, { body: 'Enough.\n/close\n/nonsense\n/reopen\n/shrug' });
  assert.equal(answer.status, 201);
  assert.equal(answer.body.body, 'Enough.\n/nonsense\n¯\\＿(ツ)＿/¯');
  assert.equal((await shown()).state, 'opened', 'the last one counts');
});

test('commands add, remove and replace existing labels', async () => {
  const { here, command, said, refused, shown } = await issueWorld({ labels: 'old' });
  for (const name of ['bug', 'b c', 'kind::one', 'kind::two'])
    await here.as('planner').post(`/projects/${here.project.id}/labels`, { name, color: '#112233' });
  const ids = new Map<string, number>(
    (await here.as('planner').get(`/projects/${here.project.id}/labels`)).body.map(
      (label: { id: number; name: string }) => [label.name, label.id],
    ),
  );
  assert.deepEqual(await command('/label ~bug ~"b c" ~none'), {
    summary: ['Added ~bug ~"b c" labels.'],
    commands_changes: { add_label_ids: [ids.get('bug'), ids.get('b c')] },
  });
  assert.deepEqual((await shown()).labels, ['b c', 'bug', 'old']);
  assert.deepEqual(await said('/unlabel ~bug'), ['Removed ~bug label.']);
  assert.deepEqual(await said('/relabel kind::one'), ['Replaced all labels with ~"kind::one" label.']);
  assert.deepEqual(await said('/labels bug "b c"\n/label ~kind::two'), [
    'Added ~"b c" label.',
    'Added ~"kind::two" label.',
  ]);
  assert.deepEqual((await shown()).labels, ['b c', 'kind::two'], 'one of each scope');
  assert.deepEqual(await said('/label ~bug\n/remove_label ~bug'), ['Added ~bug label.', 'Removed ~bug label.']);
  assert.deepEqual(await said('/unlabel\n/label ~bug'), ['Removed all labels.', 'Added ~bug label.']);
  assert.deepEqual((await shown()).labels, ['bug']);
  await refused('/label ~none');
  await refused('/unlabel ~old');
});

test('commands assign and unassign users', async () => {
  const { here, command, said, refused, shown } = await issueWorld();
  const { guest, developer, planner, outsider } = here.people;
  const ids = async () => (await shown()).assignees.map(({ id }: { id: number }) => id).sort();
  assert.deepEqual(await command(`/assign @${guest.username} and me`), {
    summary: [`Assigned @${guest.username} and @${planner.username}.`],
    commands_changes: { assignee_ids: [guest.id, planner.id] },
  });
  assert.deepEqual(await said(`/assign ${developer.username}\n/unassign me`), [
    `Assigned @${developer.username}.`,
    `Removed assignee @${planner.username}.`,
  ]);
  assert.deepEqual(await ids(), [guest.id, developer.id].sort());
  await refused(`/assign @${outsider.username}`);
  await refused('/assign @nobody-at-all');
  await refused(`/unassign @${planner.username}`);
  assert.deepEqual(await said('/reassign me'), [`Changed the assignees to @${planner.username}.`]);
  assert.deepEqual(await said('/unassign'), [`Removed assignee @${planner.username}.`]);
  assert.deepEqual(await ids(), []);
});

test('commands set and remove milestone, dates, weight, health status and lock', async () => {
  const { here, command, said, refused, shown } = await issueWorld();
  const milestones = `/projects/${here.project.id}/milestones`;
  const { id } = (await here.as('planner').post(milestones, { title: 'First harvest' })).body;
  assert.deepEqual(await command('/milestone %"First harvest"'), {
    summary: ['Set the milestone to %"First harvest".'],
    commands_changes: { milestone_id: id },
  });
  assert.deepEqual(await said('/due 2031-02-03\n/weight 3\n/health_status at_risk\n/lock'), [
    'Set the due date to Feb 3, 2031.',
    'Set weight to 3.',
    'Set health status to at_risk.',
    'Locked the discussion.',
  ]);
  const set = await shown();
  assert.deepEqual(
    [set.milestone.id, set.due_date, set.weight, set.health_status, set.discussion_locked],
    [id, '2031-02-03', 3, 'at_risk', true],
  );
  for (const wrong of [
    '/due never',
    '/due 2031-02-30',
    '/weight -1',
    '/weight many',
    '/health_status fine',
    '/milestone %none',
    '/lock',
  ])
    await refused(wrong);
  const removed = await said('/remove_milestone\n/remove_due_date\n/clear_weight\n/clear_health_status\n/unlock');
  assert.deepEqual(removed, [
    'Removed %"First harvest" milestone.',
    'Removed the due date.',
    'Removed weight.',
    'Cleared health status.',
    'Unlocked the discussion.',
  ]);
  const cleared = await shown();
  assert.deepEqual(
    [cleared.milestone, cleared.due_date, cleared.weight, cleared.health_status, cleared.discussion_locked],
    [null, null, null, null, false],
  );
  for (const nothing of ['/remove_milestone', '/remove_due_date', '/clear_weight', '/clear_health_status', '/unlock'])
    await refused(nothing);
  assert.deepEqual(await said('/milestone %1'), ['Set the milestone to %"First harvest".']);
});

test('commands estimate and spend time', async () => {
  const { command, said, refused, shown } = await issueWorld();
  assert.deepEqual(await command('/estimate 1d 2h'), {
    summary: ['Set time estimate to 1d 2h.'],
    commands_changes: { time_estimate: 36_000 },
  });
  assert.deepEqual(await said('/spend 2h 2020-01-02\n/spent -30m'), [
    'Added 2h spent time.',
    'Subtracted 30m spent time.',
  ]);
  const { time_estimate, total_time_spent } = (await shown()).time_stats;
  assert.deepEqual([time_estimate, total_time_spent], [36_000, 5400]);
  for (const wrong of ['/estimate soon', '/spend', '/spend 1h 2999-01-01', '/spend -9h', '/spend 2020-01-01'])
    await refused(wrong);
  assert.deepEqual(await said('/remove_estimate\n/remove_time_spent'), [
    'Removed time estimate.',
    'Removed spent time.',
  ]);
  assert.equal((await shown()).time_stats.total_time_spent, 0);
  await refused('/remove_estimate');
});

test('commands on subscriptions, to-do items and reactions affect the caller only', async () => {
  const { here, url, command, said, refused } = await issueWorld();
  const todos = async () => (await here.as('guest').get('/todos')).body.length;
  assert.deepEqual(await command('/todo', 'guest'), {
    summary: ['Added a to-do item.'],
    commands_changes: { todo_event: 'add' },
  });
  assert.equal(await todos(), 1);
  await refused('/todo', 'guest');
  assert.deepEqual(await said('/done', 'guest'), ['Marked to-do item as done.']);
  await refused('/done', 'guest');
  assert.equal(await todos(), 0);
  assert.deepEqual(await said('/subscribe', 'guest'), ['Subscribed to notifications.']);
  assert.equal((await here.as('guest').get(url)).body.subscribed, true);
  assert.deepEqual(await said('/unsubscribe', 'guest'), ['Unsubscribed from notifications.']);
  assert.equal((await here.as('guest').get(url)).body.subscribed, false);
  assert.deepEqual(await command('/award :thumbsup:', 'guest'), {
    summary: ['Toggled :thumbsup: emoji reaction.'],
    commands_changes: { emoji_award: 'thumbsup' },
  });
  assert.equal((await here.as('guest').get(url)).body.upvotes, 1);
  await said('/react thumbsup', 'guest');
  assert.equal((await here.as('guest').get(url)).body.upvotes, 0);
  await refused('/award :no_such_thing:', 'guest');
});

test('a to-do item is added after the edits of the same comment', async () => {
  const { here, said } = await issueWorld();
  assert.deepEqual(await said('/todo\n/title Other'), ['Added a to-do item.', 'Changed the title to "Other".']);
  assert.equal((await here.as('planner').get('/todos')).body.length, 1);
});

test('a command needs the same rights as the equivalent edit', async () => {
  const { here, refused, shown } = await issueWorld();
  const planning = [
    '/label ~x',
    '/assign me',
    '/due tomorrow',
    '/weight 1',
    '/lock',
    '/confidential',
    '/estimate 1h',
    '/close',
    '/title x',
  ];
  for (const command of planning) await refused(command, 'guest');
  const before = await shown();
  assert.deepEqual([before.state, before.title, before.assignees], ['opened', 'Mend the fence', []]);

  const own = (await here.as('guest').post(`/projects/${here.project.id}/issues`, { title: 'Mine' })).body;
  const url = `/projects/${here.project.id}/issues/${own.iid}/notes`;
  const mixed = await here.as('guest').post(url, { body: '/title Still mine\n/due tomorrow\n/close' });
  assert.deepEqual(mixed.body.summary, ['Changed the title to "Still mine".', could('due'), 'Closed this issue.']);
  const after = (await here.as('guest').get(`/projects/${here.project.id}/issues/${own.iid}`)).body;
  assert.deepEqual([after.title, after.due_date, after.state], ['Still mine', null, 'closed']);
});

test('commands link, unlink and mark issues as duplicates', async () => {
  const { here, url, said, refused, shown } = await issueWorld();
  const [second, third] = [await addIssue(here, { title: 'Two' }), await addIssue(here, { title: 'Three' })];
  const links = async () =>
    (await here.as('planner').get(`${url}/links`)).body.map((link: { iid: number; link_type: string }) => [
      link.iid,
      link.link_type,
    ]);
  assert.deepEqual(await said(`/relate #${second.iid} ${here.project.full_path}#${third.iid}`, 'reporter'), [
    `Marked this issue as related to #${second.iid} and #${third.iid}.`,
  ]);
  assert.deepEqual(await said(`/unlink #${third.iid}`, 'reporter'), [`Removed the link to #${third.iid}.`]);
  assert.deepEqual(await said(`/blocked_by #${third.iid}`, 'reporter'), [
    `Marked this issue as blocked by #${third.iid}.`,
  ]);
  assert.deepEqual(await links(), [
    [second.iid, 'relates_to'],
    [third.iid, 'blocks'],
  ]);
  for (const wrong of ['/relate #999', '/relate', '/unlink #999', '/duplicate #999', '/blocks nothing'])
    await refused(wrong, 'reporter');
  await refused(`/relate #${third.iid}`, 'planner');
  assert.deepEqual(await said(`/duplicate #${second.iid}`), [
    `Closed this issue. Marked as related to, and a duplicate of, #${second.iid}.`,
  ]);
  const { state, _links } = await shown();
  assert.equal(state, 'closed');
  assert.match(_links.closed_as_duplicate_of, new RegExp(`/issues/${second.iid}$`));
});

test('commands clone and move an issue, including the edits of the same comment', async () => {
  const { here, said, refused, shown } = await issueWorld();
  const other = (await here.as('owner').post('/projects', { name: 'other', namespace_id: here.group.id })).body;
  assert.deepEqual(await said(`/clone ${other.path_with_namespace} --with_notes`), [
    `Cloned this issue to ${other.path_with_namespace}.`,
  ]);
  await refused('/move');
  await refused('/move no/where');
  await refused(`/move ${here.project.full_path}`);
  assert.deepEqual(await said(`/title Moved on\n/move ${other.path_with_namespace}`), [
    'Changed the title to "Moved on".',
    `Moved this issue to ${other.path_with_namespace}.`,
  ]);
  const issues = (await here.as('planner').get(`/projects/${other.id}/issues`, { sort: 'asc' })).body;
  assert.deepEqual(issues.map(({ title }: { title: string }) => title).sort(), ['Mend the fence', 'Moved on']);
  const { state, moved_to_id } = await shown();
  assert.equal(state, 'closed');
  assert.notEqual(moved_to_id, null);
});

test('a command copies labels and milestone from another issue', async () => {
  const { here, command, shown } = await issueWorld();
  const { id: milestone_id } = (
    await here.as('planner').post(`/projects/${here.project.id}/milestones`, { title: 'Soon' })
  ).body;
  const source = await addIssue(here, { title: 'Source', labels: 'one,two', milestone_id });
  const { summary, commands_changes } = await command(`/copy_metadata #${source.iid}`);
  assert.deepEqual(summary, [`Copied labels and milestone from #${source.iid}.`]);
  assert.deepEqual(commands_changes, { add_labels: ['one', 'two'], milestone_id });
  const { labels, milestone } = await shown();
  assert.deepEqual([labels, milestone.id], [['one', 'two'], milestone_id]);
});

test('a command turns an issue into an incident, which has a severity', async () => {
  const { command, said, refused, shown } = await issueWorld();
  await refused('/severity high');
  await refused('/promote_to_incident', 'guest');
  assert.deepEqual(await said('/promote_to_incident\n/severity S1', 'reporter'), [
    'Issue has been promoted to incident.',
    'Severity updated to Critical.',
  ]);
  const { issue_type, severity } = await shown();
  assert.deepEqual([issue_type, severity], ['incident', 'CRITICAL']);
  assert.deepEqual((await command('/severity low')).summary, ['Severity updated to Low.']);
  await refused('/severity s9');
  await refused('/promote_to incident', 'reporter');
});

test('a command makes an issue confidential', async () => {
  const { here, url, command, refused } = await issueWorld();
  assert.deepEqual(await command('/confidential'), {
    summary: ['Made this issue confidential.'],
    commands_changes: { confidential: true },
  });
  assert.equal((await here.as('guest').get(url)).status, 404);
  await refused('/confidential');
});

test('commands move an issue between the iterations of its group', async () => {
  const { here, said, refused, shown } = await issueWorld();
  const today = new Date().toISOString().slice(0, 10);
  const cadence = {
    title: 'Weeks',
    automatic: true,
    start_date: today,
    duration_in_weeks: 1,
    iterations_in_advance: 1,
  };
  assert.equal((await here.as('planner').post(`/groups/${here.group.id}/iteration_cadences`, cadence)).status, 201);
  const [current, next] = (await here.as('planner').get(`/groups/${here.group.id}/iterations`)).body.sort(
    (a: { start_date: string }, b: { start_date: string }) => a.start_date.localeCompare(b.start_date),
  );
  assert.deepEqual(await said('/iteration --current'), [`Set the iteration to *iteration:${current.id}.`]);
  assert.deepEqual(await said('/iteration --next'), [`Set the iteration to *iteration:${next.id}.`]);
  assert.deepEqual(await said(`/iteration *iteration:${current.id}`), [
    `Set the iteration to *iteration:${current.id}.`,
  ]);
  assert.equal((await shown()).iteration.id, current.id);
  assert.deepEqual(await said('/remove_iteration'), [`Removed *iteration:${current.id} iteration.`]);
  assert.equal((await shown()).iteration, null);
  for (const wrong of ['/remove_iteration', '/iteration *iteration:999999', '/iteration --last', '/iteration'])
    await refused(wrong);
});

test('commands in the description of a new issue are applied and removed', async () => {
  const here = await world();
  await here.as('planner').post(`/projects/${here.project.id}/labels`, { name: 'bug', color: '#112233' });
  const issue = await addIssue(here, { description: 'It is broken.\n/label ~bug\n/due 2031-01-02\n/close\n/todo' });
  assert.equal(issue.description, 'It is broken.');
  assert.deepEqual([issue.labels, issue.due_date, issue.state], [['bug'], '2031-01-02', 'opened']);
  assert.deepEqual((await here.as('planner').get('/todos')).body, []);
  const { iid } = (
    await here
      .as('guest')
      .post(`/projects/${here.project.id}/issues`, { title: 'By a guest', description: '/label ~bug' })
  ).body;
  const own = (await here.as('guest').get(`/projects/${here.project.id}/issues/${iid}`)).body;
  assert.deepEqual([own.labels, own.description ?? ''], [['bug'], '']);
});

test('commands in an edited description are applied and removed', async () => {
  const { here, url } = await issueWorld();
  const changed = await here.as('planner').put(url, { description: 'Done.\n/close\n/title Mended\n/shrug' });
  assert.equal(changed.status, 200);
  const { description, state, title } = changed.body;
  assert.deepEqual([description, state, title], ['Done.\n¯\\＿(ツ)＿/¯', 'closed', 'Mended']);
});

test('commands that are not for issues are removed without effect', async () => {
  const { here, url, refused } = await issueWorld();
  for (const command of ['/merge', '/approve', '/child_epic &1', '/parent_epic &1']) await refused(command);
  const answer = await here.as('planner').post(`${url}/notes`, { body: 'Text\n/merge' });
  assert.deepEqual([answer.status, answer.body.body], [201, 'Text']);
});

test('epics support the commands that make sense on them', async () => {
  const here = await world();
  const url = `/groups/${here.group.id}/epics`;
  await here.as('planner').post(`/groups/${here.group.id}/labels`, { name: 'bug', color: '#112233' });
  const add = async (title: string, description: string) => {
    const added = await here.as('planner').post(url, { title, description });
    assert.equal(added.status, 201, JSON.stringify(added.body));
    return added.body;
  };
  const epic = await add('Orchard', 'Trees.\n/label ~bug\n/close\n/weight 3');
  assert.deepEqual([epic.description, epic.labels, epic.state], ['Trees.', ['bug'], 'opened']);
  const child = await add('Apples', `/parent_epic &${epic.iid}`);
  assert.equal(child.parent_id, epic.id);

  const said = async (body: string, persona: Persona = 'planner') => {
    const answer = await here.as(persona).post(`${url}/${epic.id}/notes`, { body });
    assert.equal(answer.status, 202, JSON.stringify(answer.body));
    return answer.body.summary;
  };
  const shown = async () => (await here.as('planner').get(`${url}/${epic.iid}`)).body;
  assert.deepEqual(await said('/close\n/title Garden\n/unlabel\n/due tomorrow'), [
    'Closed this epic.',
    'Changed the title to "Garden".',
    'Removed all labels.',
    could('due'),
  ]);
  // An epic with non-confidential children cannot be made confidential.
  assert.deepEqual(await said('/confidential\n/title Park\n/todo'), [
    could('confidential'),
    could('title'),
    'Added a to-do item.',
  ]);
  const { state, title, labels, confidential } = await shown();
  assert.deepEqual([state, title, labels, confidential], ['closed', 'Garden', [], false]);
  assert.deepEqual(await said('/reopen\n/todo\n/subscribe\n/award :heart:', 'reporter'), [
    'Reopened this epic.',
    'Added a to-do item.',
    'Subscribed to notifications.',
    'Toggled :heart: emoji reaction.',
  ]);
  const refused = await here.as('guest').post(`${url}/${child.id}/notes`, { body: '/close' });
  assert.equal(refused.status, 400);
  const edited = await here.as('planner').put(`${url}/${child.iid}`, { description: 'Red.\n/remove_parent_epic' });
  assert.deepEqual([edited.body.description, edited.body.parent_id], ['Red.', null]);

  const parentOf = async () => (await here.as('planner').get(`${url}/${child.iid}`)).body.parent_id;
  assert.deepEqual(await said(`/child_epic &${child.iid}`), [`Added &${child.iid} as child epic.`]);
  assert.equal(await parentOf(), epic.id);
  assert.deepEqual(await said(`/remove_child_epic &${child.iid}\n/child_epic &999`), [
    `Removed &${child.iid} as child epic.`,
    could('child_epic'),
  ]);
  assert.equal(await parentOf(), null);
});

test('a command promotes an issue to an epic of its group', async () => {
  const { here, said, refused, shown } = await issueWorld({ description: 'Everywhere.' });
  await refused('/promote', 'guest');
  await refused('/promote_to nonsense');
  assert.deepEqual(await said('/promote_to epic'), ['Promoted issue to an epic.']);
  const [epic] = (await here.as('planner').get(`/groups/${here.group.id}/epics`)).body;
  assert.deepEqual([epic.title, epic.description], ['Mend the fence', 'Everywhere.']);
  assert.equal((await shown()).state, 'closed');
});

test('commands add an issue to an epic and remove it', async () => {
  const { here, command, said, refused, shown } = await issueWorld();
  const added = await here.as('planner').post(`/groups/${here.group.id}/epics`, { title: 'Orchard' });
  const { id, iid } = added.body;
  assert.deepEqual(await command(`/epic &${iid}`), {
    summary: ['Added an issue to an epic.'],
    commands_changes: { epic_id: id },
  });
  assert.equal((await shown()).epic.id, id);
  assert.deepEqual(await said('/remove_epic'), ['Removed an issue from an epic.']);
  assert.equal((await shown()).epic, null);
  assert.deepEqual(await said(`/set_parent ${here.group.full_path}&${iid}`), ['Added an issue to an epic.']);
  await said('/remove_parent');
  for (const wrong of ['/epic &999', '/epic', '/remove_epic']) await refused(wrong);
});
