/** Every foreign key of references.ts, and what each event does to the references. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import { testDatabase } from '../../test/support/database.ts';
import { addMergeRequest, worldWithTopic } from '../../test/support/merge_requests.ts';
import { sent } from '../../test/support/sent.ts';
import { type Database, type Reference, referencesTo } from '../db/index.ts';
import type { PlanningTable } from './planning/references/actions.ts';
import { atLeaving, atMove, atTransfer } from './references.ts';
import { removeExpiredMembers } from './spaces/members/removal_actions.ts';

const tables: readonly PlanningTable[] = ['labels', 'milestones', 'iterations'];
const keyOf = ({ table, column }: Reference) => `${table}.${column}`;

interface Ids {
  project: number;
  issue: number;
  merge_request: number;
  epic: number;
  board: number;
  release: number;
  user: number;
}

/** How a row comes to name something, and which row it is then. */
interface Use {
  name(ids: Ids, id: number): RawBuilder<unknown>;
  row(ids: Ids): RawBuilder<unknown>;
}

const issueEvent = (table: string, column: string, more: Record<string, string>): Use => ({
  name: ({ issue, user }, id) =>
    sql`insert into ${sql.table(table)} (issue_id, user_id, ${sql.ref(column)}, ${sql.join(Object.keys(more).map((name) => sql.ref(name)))})
        values (${issue}, ${user}, ${id}, ${sql.join(Object.values(more))})`,
  row: ({ issue }) => sql`issue_id = ${issue}`,
});
const pair = (table: string, owner: keyof Ids, column: string): Use => ({
  name: (ids, id) =>
    sql`insert into ${sql.table(table)} (${sql.ref(`${owner}_id`)}, ${sql.ref(column)}) values (${ids[owner]}, ${id})`,
  row: (ids) => sql`${sql.ref(`${owner}_id`)} = ${ids[owner]}`,
});
const listFor = (column: string): Use => ({
  name: ({ board }, id) =>
    sql`insert into board_lists (board_id, ${sql.ref(column)}, position) values (${board}, ${id}, 0)`,
  row: ({ board }) => sql`board_id = ${board} and ${sql.ref(column)} is not null`,
});
const own = (table: string, owner: keyof Ids, column: string): Use => ({
  name: (ids, id) => sql`update ${sql.table(table)} set ${sql.ref(column)} = ${id} where id = ${ids[owner]}`,
  row: (ids) => sql`id = ${ids[owner]}`,
});

const uses: Readonly<Record<string, Use>> = {
  'board_labels.label_id': pair('board_labels', 'board', 'label_id'),
  'board_lists.label_id': listFor('label_id'),
  'epic_labels.label_id': pair('epic_labels', 'epic', 'label_id'),
  'issue_labels.label_id': pair('issue_labels', 'issue', 'label_id'),
  'label_priorities.label_id': {
    name: ({ project }, id) =>
      sql`insert into label_priorities (project_id, label_id, priority) values (${project}, ${id}, 3)`,
    row: ({ project }) => sql`project_id = ${project}`,
  },
  'merge_request_labels.label_id': pair('merge_request_labels', 'merge_request', 'label_id'),
  'resource_label_events.label_id': issueEvent('resource_label_events', 'label_id', { action: 'add' }),
  'subscriptions.label_id': {
    name: ({ user }, id) =>
      sql`insert into subscriptions (user_id, label_id, subscribed) values (${user}, ${id}, true)`,
    row: ({ user }) => sql`user_id = ${user} and label_id is not null`,
  },
  'board_lists.milestone_id': listFor('milestone_id'),
  'boards.milestone_id': own('boards', 'board', 'milestone_id'),
  'issues.milestone_id': own('issues', 'issue', 'milestone_id'),
  'merge_requests.milestone_id': own('merge_requests', 'merge_request', 'milestone_id'),
  'release_milestones.milestone_id': pair('release_milestones', 'release', 'milestone_id'),
  'resource_milestone_events.milestone_id': issueEvent('resource_milestone_events', 'milestone_id', {
    action: 'add',
    state: 'opened',
  }),
  'board_lists.iteration_id': listFor('iteration_id'),
  'boards.iteration_id': own('boards', 'board', 'iteration_id'),
  'issues.iteration_id': own('issues', 'issue', 'iteration_id'),
  'resource_iteration_events.iteration_id': issueEvent('resource_iteration_events', 'iteration_id', { action: 'add' }),
};

test('every foreign key has an entry, and every entry a foreign key', async () => {
  const { db } = await testDatabase();
  const keysTo = async (table: string) => (await referencesTo(db, table)).map(keyOf).sort();
  for (const [table, fates] of Object.entries(atTransfer))
    assert.deepEqual(Object.keys(fates).sort(), await keysTo(table), table);
  const ofIssues = ['issues.iteration_id', 'issues.milestone_id'];
  assert.deepEqual(Object.keys(atMove).sort(), [...(await keysTo('issues')), ...ofIssues].sort());
  assert.deepEqual(Object.keys(atLeaving).sort(), await keysTo('users'));
});

type Place = Awaited<ReturnType<typeof place>>;

/** A project with one of everything, in a group of another one. */
async function place() {
  const here = await worldWithTopic();
  const { as, project, group, people, db } = here;
  const of = `/projects/${project.id}`;
  const newGroup = async (path: string) => {
    const made = await sent(as('admin').post('/groups', { name: path, path, visibility: 'private' }));
    await sent(as('admin').post(`/groups/${made.id}/members`, { user_id: people.owner.id, access_level: 50 }));
    return made.id as number;
  };
  const [left, there] = [await newGroup(`left-${group.id}`), await newGroup(`there-${group.id}`)];
  await sent(as('owner').post(`/groups/${group.id}/transfer`, { group_id: left }));
  const epic = await sent(as('owner').post(`/groups/${group.id}/epics`, { title: 'Orchard' }));
  const issue = await sent(as('owner').post(`${of}/issues`, { title: 'Pick' }));
  const board = await sent(as('owner').post(`${of}/boards`, { name: 'Board' }));
  await sent(as('owner').post(`${of}/releases`, { tag_name: 'v1', ref: 'main' }));
  const { id: merge_request } = await addMergeRequest(here);
  const { id: release } = await db
    .selectFrom('releases')
    .select('id')
    .where('project_id', '=', project.id)
    .executeTakeFirstOrThrow();
  const ids: Ids = {
    project: project.id,
    issue: issue.id,
    merge_request,
    epic: epic.id,
    board: board.id,
    release,
    user: people.owner.id,
  };
  return { ...here, ids, left, there };
}

/** Adds a label, milestone or iteration to a group or project, as SQL does. @returns its id */
async function add(
  db: Database,
  table: PlanningTable,
  owner: Partial<Record<'group_id' | 'project_id', number>>,
  title: string,
) {
  const [column, id] = Object.entries(owner)[0]!;
  const numbers = sql`(select coalesce(max(iid), 0) + 1 from ${sql.table(table)} where ${sql.ref(column)} = ${id})`;
  const cadence = sql`(select id from iteration_cadences where group_id = ${id} limit 1)`;
  const insert = {
    labels: sql`insert into labels (${sql.ref(column)}, title, color) values (${id}, ${title}, '#aabbcc')`,
    milestones: sql`insert into milestones (${sql.ref(column)}, iid, title) values (${id}, ${numbers}, ${title})`,
    iterations: sql`
      insert into iterations (cadence_id, group_id, iid, sequence, title, start_date, due_date)
      select ${cadence}, ${id}, number, number, ${title}, current_date + 10 * number, current_date + 10 * number + 5
        from (select ${numbers} as number) numbers`,
  }[table];
  if (table === 'iterations')
    await sql`insert into iteration_cadences (group_id, title) select ${id}, 'Weeks' where ${cadence} is null`.execute(
      db,
    );
  const { rows } = await sql<{ id: number }>`${insert} returning id`.execute(db);
  return rows[0]!.id;
}

/** What the row of a use names, with its title and owner; undefined when there is no such row. */
async function named({ db, ids }: Place, table: PlanningTable, { table: source, column }: Reference) {
  const owner = table === 'iterations' ? sql`null::bigint` : sql`named.project_id`;
  const { rows } = await sql<{
    id: number | null;
    title: string | null;
    project_id: number | null;
    group_id: number | null;
  }>`
    select named.id, named.title, ${owner} as project_id, named.group_id
      from (select * from ${sql.table(source)} where ${uses[`${source}.${column}`]!.row(ids)}) source
      left join ${sql.table(table)} named on named.id = ${sql.ref(`source.${column}`)}`.execute(db);
  assert.ok(rows.length < 2, `${source}.${column} has ${rows.length} rows`);
  return rows[0];
}

for (const target of ['project', 'group'] as const)
  for (const known of [false, true])
    for (const table of tables)
      test(`a ${target} that moves to a group ${known ? 'with' : 'without'} the same titles leads to no ${table} of the old group`, async () => {
        const here = await place();
        const { db, as, ids, left, there, project, group } = here;
        const references = await referencesTo(db, table);
        const before = new Map<string, number>();
        for (const reference of references) {
          const key = keyOf(reference);
          const id = await add(db, table, { group_id: left }, key);
          if (known) await add(db, table, { group_id: there }, key);
          await uses[key]!.name(ids, id).execute(db);
          before.set(key, id);
        }
        await (target === 'project'
          ? sent(as('owner').put(`/projects/${project.id}/transfer`, { namespace: there }))
          : sent(as('owner').post(`/groups/${group.id}/transfer`, { group_id: there })));
        for (const reference of references) {
          const key = keyOf(reference);
          const now = await named(here, table, reference);
          const fates: Readonly<Record<string, string>> = atTransfer[table];
          const fate = fates[key]!;
          // An epic is of the group, and does not move with the project.
          if (fate.startsWith('stays') || (target === 'project' && reference.table === 'epic_labels'))
            assert.equal(now?.id, before.get(key), key);
          else if (fate === 'copy' || (fate === 'follow' && known)) {
            const owner = known
              ? { project_id: null, group_id: there }
              : target === 'project'
                ? { project_id: project.id, group_id: null }
                : { project_id: null, group_id: group.id };
            assert.deepEqual({ ...now, id: 0 }, { id: 0, title: key, ...owner }, key);
          } else if (reference.on_delete === 'cascade') assert.equal(now, undefined, key);
          else assert.equal(now?.id, null, key);
        }
      });

for (const [table, path] of [
  ['labels', (id: number) => `labels/${id}/promote`],
  ['milestones', (id: number) => `milestones/${id}/promote`],
] as const)
  test(`all references to one of the project's ${table} point to the group's after its promotion, which may already exist`, async () => {
    const here = await place();
    const { db, as, ids, project, group } = here;
    for (const reference of await referencesTo(db, table)) {
      const key = keyOf(reference);
      const id = await add(db, table, { project_id: project.id }, key);
      await uses[key]!.name(ids, id).execute(db);
      const known = table === 'labels' ? await add(db, table, { group_id: group.id }, key) : undefined;
      const promoted = table === 'labels' ? as('owner').put : as('owner').post;
      const answer = await promoted(`/projects/${project.id}/${path(id)}`);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      const now = await named(here, table, reference);
      assert.deepEqual({ ...now, id: 0 }, { id: 0, title: key, project_id: null, group_id: group.id }, key);
      assert.notEqual(now?.id, id, key);
      if (known !== undefined) assert.equal(now?.id, known, key);
      // The next one is told apart by its row.
      if (reference.keys.length > 0 || reference.is_pair)
        await sql`delete from ${sql.table(reference.table)} where ${uses[key]!.row(ids)}`.execute(db);
    }
  });

test('issues leave their epics when their project comes into a personal namespace, and stay in them elsewhere', async () => {
  const { db, as, ids, project, people, there } = await place();
  await sql`insert into epic_issues (epic_id, issue_id, relative_position) values (${ids.epic}, ${ids.issue}, 0)`.execute(
    db,
  );
  const epics = () => db.selectFrom('epic_issues').select('epic_id').where('issue_id', '=', ids.issue).execute();
  await sent(as('owner').put(`/projects/${project.id}/transfer`, { namespace: there }));
  assert.deepEqual(await epics(), [{ epic_id: ids.epic }]);
  await sent(as('owner').put(`/projects/${project.id}/transfer`, { namespace: people.owner.username }));
  assert.deepEqual(await epics(), []);
});

/** The rows that name an issue, by the key that does so. */
const naming: Readonly<Record<string, (ids: Ids & { others: readonly number[] }) => RawBuilder<unknown>>> = {
  'award_emoji.issue_id': ({ issue, user }) =>
    sql`insert into award_emoji (issue_id, user_id, name) values (${issue}, ${user}, 'apple')`,
  'issue_links.source_id': ({ issue, others }) =>
    sql`insert into issue_links (source_id, target_id) values (${issue}, ${others[0]})`,
  'issue_links.target_id': ({ issue, others }) =>
    sql`insert into issue_links (source_id, target_id) values (${others[1]}, ${issue})`,
  'subscriptions.issue_id': ({ issue, user }) =>
    sql`insert into subscriptions (issue_id, user_id, subscribed) values (${issue}, ${user}, false)`,
  'timelogs.issue_id': ({ issue, user }) =>
    sql`insert into timelogs (issue_id, user_id, time_spent_s) values (${issue}, ${user}, 60)`,
  'user_mentions.issue_id': ({ issue, user }) =>
    sql`insert into user_mentions (issue_id, user_id) values (${issue}, ${user})`,
  'notes.issue_id': ({ issue, user }) =>
    sql`insert into notes (issue_id, author_id, body) values (${issue}, ${user}, 'Ripe')`,
  'issue_assignees.issue_id': ({ issue, user }) =>
    sql`insert into issue_assignees (issue_id, user_id) values (${issue}, ${user})`,
  'issue_metric_images.issue_id': ({ issue }) =>
    sql`insert into issue_metric_images (issue_id, filename, blob_key, size_bytes) values (${issue}, 'a.png', 'metric_images/abcdef', 1)`,
  'issue_user_agents.issue_id': ({ issue }) =>
    sql`insert into issue_user_agents (issue_id, user_agent, ip_address) values (${issue}, 'a browser', '192.0.2.1') on conflict do nothing`,
  'resource_state_events.issue_id': ({ issue, user }) =>
    sql`insert into resource_state_events (issue_id, user_id, state) values (${issue}, ${user}, 'reopened')`,
  'resource_weight_events.issue_id': ({ issue, user }) =>
    sql`insert into resource_weight_events (issue_id, user_id, weight) values (${issue}, ${user}, 3)`,
  'epic_issues.issue_id': ({ issue, epic }) =>
    sql`insert into epic_issues (issue_id, epic_id, relative_position) values (${issue}, ${epic}, 0)`,
  'error_tracking_errors.issue_id': ({ issue, project }) =>
    sql`insert into error_tracking_errors (project_id, fingerprint, platform, level, first_seen_at, last_seen_at, issue_id)
        values (${project}, 'abc', 'other', 'error', now(), now(), ${issue})`,
  'issues.duplicated_to_id': ({ issue, others }) =>
    sql`update issues set duplicated_to_id = ${issue} where id = ${others[0]}`,
  'issues.moved_to_id': ({ issue, others }) => sql`update issues set moved_to_id = ${issue} where id = ${others[1]}`,
  'merge_request_closed_issues.issue_id': ({ issue, merge_request }) =>
    sql`insert into merge_request_closed_issues (issue_id, merge_request_id) values (${issue}, ${merge_request})`,
  'notes.refers_to_issue_id': ({ issue, others, user }) =>
    sql`insert into notes (issue_id, author_id, body, system, refers_to_issue_id) values (${others[0]}, ${user}, 'mentioned', true, ${issue})`,
  'todos.issue_id': ({ issue, user, project }) =>
    sql`insert into todos (issue_id, user_id, project_id, action_name) values (${issue}, ${user}, ${project}, 'marked')`,
};

/** What the move itself writes about the new issue. */
const byMoving: Readonly<Record<string, number>> = {
  'notes.issue_id': 1,
  'notes.refers_to_issue_id': 1,
  'issues.moved_to_id': 1,
};

test('a moved issue has copies of what belongs to it, and names nothing of the group that it has left', async () => {
  const here = await place();
  const { db, as, ids, left, there, project } = here;
  const client = as('owner');
  const others = await Promise.all(
    ['Wash', 'Dry'].map(async (title) => (await sent(client.post(`/projects/${project.id}/issues`, { title }))).id),
  );
  const target = await sent(client.post('/projects', { name: 'target', namespace_id: there }));
  for (const name of Object.values(naming)) await name({ ...ids, others }).execute(db);
  const titled = ['issue_labels.label_id', 'issues.milestone_id', 'issues.iteration_id'] as const;
  const histories = ['label', 'milestone', 'iteration'].map((of) => `resource_${of}_events.${of}_id`);
  for (const [table, ...keys] of tables.map((table, index) => [table, titled[index]!, histories[index]!] as const)) {
    for (const key of keys) await uses[key]!.name(ids, await add(db, table, { group_id: left }, key)).execute(db);
    await add(db, table, { group_id: there }, keys[0]!);
  }
  await uses['issue_labels.label_id']!.name(ids, await add(db, 'labels', { group_id: left }, 'Secret')).execute(db);

  const counted = Object.keys(atMove).filter((key) => key !== 'issues.milestone_id' && key !== 'issues.iteration_id');
  const rowsNaming = async (id: number) => {
    const counts = counted.map((key) => {
      const [table, column] = key.split('.') as [string, string];
      return sql`select ${key}::text as key, count(*)::integer as count from ${sql.table(table)} where ${sql.ref(column)} = ${id}`;
    });
    const { rows } = await sql<{ key: string; count: number }>`${sql.join(counts, sql` union all `)}`.execute(db);
    return new Map(rows.map(({ key, count }) => [key, count]));
  };
  const before = await rowsNaming(ids.issue);
  const { iid } = await db.selectFrom('issues').select('iid').where('id', '=', ids.issue).executeTakeFirstOrThrow();
  const moved = await sent(client.post(`/projects/${project.id}/issues/${iid}/move`, { to_project_id: target.id }));
  const [stayed, copied] = [await rowsNaming(ids.issue), await rowsNaming(moved.id)];
  for (const key of counted) {
    assert.ok(before.get(key)! > 0, `${key} has no case`);
    assert.ok(stayed.get(key)! >= before.get(key)!, `${key} leads to the original`);
    const isLost = atMove[key]!.startsWith('stays');
    const expected = (isLost ? 0 : key === 'issue_labels.issue_id' ? 1 : before.get(key)!) + (byMoving[key] ?? 0);
    assert.equal(copied.get(key), expected, key);
  }
  const { labels, milestone, iteration } = moved;
  assert.deepEqual(
    [labels, milestone.title, milestone.group_id, iteration],
    [['issue_labels.label_id'], 'issues.milestone_id', there, null],
  );
});

test('a member who leaves keeps no rights, and stays assigned unless asked', async () => {
  const { db, as, ids, project, group, person } = await place();
  const rows: Readonly<Record<string, (user: number) => RawBuilder<unknown> | undefined>> = {
    'members.user_id': () => undefined,
    'project_authorizations.user_id': () => undefined,
    'group_authorizations.user_id': () => undefined,
    'approval_rule_users.user_id': (user) =>
      sql`with rule as (insert into approval_rules (project_id, name, approvals_required) values (${project.id}, 'Tasters', 1) returning id)
          insert into approval_rule_users (approval_rule_id, user_id) select id, ${user} from rule`,
    'invitations.created_by_id': (user) =>
      sql`insert into invitations (group_id, invite_email, access_level, created_by_id) values (${group.id}, 'cook@example.com', 30, ${user})`,
    'member_approvals.user_id': (user) =>
      sql`insert into member_approvals (group_id, user_id, access_level) values (${group.id}, ${user}, 50)`,
    'protected_branch_access_levels.user_id': (user) =>
      sql`with branch as (insert into protected_branches (project_id, name) values (${project.id}, 'stable') returning id)
          insert into protected_branch_access_levels (protected_branch_id, action, user_id) select id, 'push', ${user} from branch`,
    'protected_environment_rules.user_id': (user) =>
      sql`with environment as (insert into protected_environments (project_id, name) values (${project.id}, 'shop') returning id)
          insert into protected_environment_rules (protected_environment_id, purpose, user_id) select id, 'deploy', ${user} from environment`,
    'issue_assignees.user_id': (user) =>
      sql`insert into issue_assignees (issue_id, user_id) values (${ids.issue}, ${user})`,
    'merge_request_assignees.user_id': (user) =>
      sql`insert into merge_request_assignees (merge_request_id, user_id) values (${ids.merge_request}, ${user})`,
    'merge_request_reviewers.user_id': (user) =>
      sql`insert into merge_request_reviewers (merge_request_id, user_id) values (${ids.merge_request}, ${user})`,
  };
  const ending = Object.keys(atLeaving).filter((key) => !atLeaving[key]!.startsWith('stays'));
  assert.deepEqual(ending.toSorted(), Object.keys(rows).toSorted());
  for (const way of ['removed', 'removed and unassigned', 'expired'] as const) {
    const { id } = await person();
    await sent(as('owner').post(`/groups/${group.id}/members`, { user_id: id, access_level: 30 }));
    for (const row of Object.values(rows)) await row(id)?.execute(db);
    const kept = async () => {
      const found: string[] = [];
      for (const key of ending) {
        const [table, column] = key.split('.') as [string, string];
        const { rows: some } =
          await sql`select from ${sql.table(table)} where ${sql.ref(column)} = ${id} limit 1`.execute(db);
        if (some.length > 0) found.push(key);
      }
      return found;
    };
    assert.deepEqual(await kept(), ending);
    if (way === 'expired') {
      await sql`update members set expires_at = current_date - 1 where user_id = ${id}`.execute(db);
      await removeExpiredMembers(db);
    } else
      await as('owner').delete(`/groups/${group.id}/members/${id}`, {
        unassign_issuables: way === 'removed and unassigned',
      });
    const assigned = ending.filter((key) => atLeaving[key] === 'ends if asked');
    assert.deepEqual(await kept(), way === 'removed and unassigned' ? [] : assigned, way);
    await sql`delete from approval_rules where project_id = ${project.id}`.execute(db);
    await sql`delete from protected_branches where project_id = ${project.id} and name = 'stable'`.execute(db);
    await sql`delete from protected_environments where project_id = ${project.id}`.execute(db);
  }
});
