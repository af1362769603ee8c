/** What holds for everything that can be updated: an update that changes nothing leaves `updated_at` alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { endpoints } from '../../src/areas/index.ts';
import type { Client } from '../support/client.ts';
import { addEpic } from '../support/epics.ts';
import { addIssue } from '../support/issues.ts';
import { addRole, personWith } from '../support/member_roles.ts';
import { type World, world } from '../support/world.ts';

/** A row, how it is updated, and what it is given: first what it has already, then something else. */
interface Case {
  table: string;
  id: number;
  path: string;
  /** The path as endpoints declare it. */
  declared: string;
  method?: 'put' | 'patch';
  same: object;
  other: object;
  by?: Client;
}

interface Schema {
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
}

/** Updates whose reply shows `updated_at`, but which do not take the values of the thing itself. */
const others = new Set([
  // A merge happens once.
  '/projects/:id/merge_requests/:merge_request_iid/merge',
  // A deployment cannot get the status that it has.
  '/projects/:id/deployments/:deployment_id',
  '/projects/:id/transfer',
  '/projects/:id/issues/:issue_iid/reorder',
  '/projects/:id/boards/:board_id/issues/:issue_id/move',
  '/groups/:id/boards/:board_id/issues/:issue_id/move',
  '/member_approvals/:id/approve',
  '/member_approvals/:id/deny',
]);

const shows = (schema: Schema | undefined): boolean =>
  schema?.properties?.updated_at !== undefined || (schema?.anyOf ?? []).some(shows);

async function casesIn(here: World): Promise<Case[]> {
  const { as, group, project, people } = here;
  const [owner, admin] = [as('owner'), as('admin')];
  const [ofGroup, ofProject] = [`/groups/${group.id}`, `/projects/${project.id}`];
  const make = async (path: string, values: object, by = owner) => {
    const { status, body } = await by.post(path, { ...values });
    assert.equal(status, 201, `${path} ${JSON.stringify(body)}`);
    return body;
  };
  const vulnerability = await here.db
    .insertInto('vulnerabilities')
    .values({ project_id: project.id, cluster: 'CVE-2026-1', name: 'CVE-2026-1', severity: 1 })
    .returning('id')
    .executeTakeFirstOrThrow();
  const pipeline = await here.db
    .insertInto('pipelines')
    .values({ project_id: project.id, iid: 1, sha: '0'.repeat(40), ref: 'main', status: 'created', source: 'api' })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { id: schedule_id } = await here.db
    .insertInto('pipeline_schedules')
    .values({
      ...{ project_id: project.id, owner_id: people.owner.id, description: 'Nightly', ref: 'refs/heads/main' },
      ...{ cron: '0 1 * * *', inputs: JSON.stringify({ depth: 3 }) },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { id: trigger_id } = await make(`${ofProject}/triggers`, { description: 'Nightly' });
  const { id: group_id } = await here.db
    .insertInto('resource_groups')
    .values({ project_id: project.id, key: 'production', process_mode: 'oldest_first' })
    .returning('id')
    .executeTakeFirstOrThrow();
  const [issue, epic] = [await addIssue(here, { labels: 'a', weight: 2 }), await addEpic(here, { labels: 'a' })];
  const flag = { name: 'press', description: 'New', strategies: [{ name: 'default', parameters: {} }] };
  await make(`${ofProject}/feature_flags`, flag);
  const flags = here.db.selectFrom('feature_flags').select('id').where('project_id', '=', project.id);
  const { id: flag_id } = await flags.executeTakeFirstOrThrow();
  const list = { name: 'Pickers', user_xids: 'rowan' };
  const { id: list_id, iid: list_iid } = await make(`${ofProject}/feature_flags_user_lists`, list);
  const thing = async (declared: string, path: string, table: string, values: object, other: object): Promise<Case> => {
    const { id } = await make(path, values);
    return { table, id, path: `${path}/${id}`, declared, same: values, other };
  };
  const text = [{ body: 'A word' }, { body: 'Another' }] as const;
  const noteOf = (declared: string, path: string) => thing(declared, path, 'notes', ...text);
  const threadOf = async (declared: string, path: string): Promise<Case> => {
    const thread = await make(path, text[0]);
    const { id } = thread.notes[0];
    return { table: 'notes', id, path: `${path}/${thread.id}/notes/${id}`, declared, same: text[0], other: text[1] };
  };
  const period = { freeze_start: '0 1 * * *', freeze_end: '0 2 * * *', cron_timezone: 'UTC' };
  await make(`${ofProject}/repository/files/a.txt`, { branch: 'main', commit_message: 'Begin', content: 'a' });
  await make(`${ofProject}/repository/branches`, { branch: 'side', ref: 'main' });
  const merge = { title: 'Merge', labels: 'a', source_branch: 'side', target_branch: 'main' };
  const merging = await make(`${ofProject}/merge_requests`, merge);
  const ofMerging = `${ofProject}/merge_requests/${merging.iid}`;
  const snippet = { title: 'Fruit', description: null, file_name: 'a.txt', content: 'apples' };
  const discussed = await make(`${ofProject}/snippets`, snippet);
  const cluster = { name: 'one', platform_kubernetes_attributes: { api_url: 'https://kube.example.com', token: 'x' } };
  const role = { name: 'unchanged', base_access_level: 10, read_code: true };
  const helper = await personWith(here, ofGroup, ['read_code']);
  const members = here.db.selectFrom('members').select('id').where('user_id', '=', helper.id);
  const email = 'unchanged@example.org';
  await make(`${ofGroup}/invitations`, { email, access_level: 20 });
  const invitations = here.db.selectFrom('invitations').select('id').where('invite_email', '=', email);
  const milestone = { title: 'Spring', description: 'of the year', start_date: '2030-03-01', due_date: null };
  const settings = { default_branch_name: null, restricted_visibility_levels: [] };
  return [
    {
      table: 'application_settings',
      id: 1,
      path: '/application/settings',
      declared: '/application/settings',
      by: admin,
      same: settings,
      other: { default_branch_name: 'trunk' },
    },
    {
      table: 'projects',
      id: project.id,
      path: ofProject,
      declared: '/projects/:id',
      same: { name: 'same', topics: ['a', 'b'] },
      other: { description: 'Other' },
    },
    {
      table: 'namespaces',
      id: group.id,
      path: ofGroup,
      declared: '/groups/:id',
      ...{ same: { path: group.path, visibility: 'private', description: 'Same' }, other: { path: `${group.path}-2` } },
    },
    {
      table: 'users',
      id: helper.id,
      path: `/users/${helper.id}`,
      declared: '/users/:id',
      by: admin,
      same: { username: helper.username, bio: 'Same' },
      other: { bio: 'Other' },
    },
    {
      table: 'users',
      id: people.owner.id,
      path: '/user/preferences',
      declared: '/user/preferences',
      same: { view_diffs_file_by_file: false },
      other: { view_diffs_file_by_file: true },
    },
    {
      table: 'members',
      id: (await members.executeTakeFirstOrThrow()).id,
      path: `${ofGroup}/members/${helper.id}`,
      declared: '/groups/:id/members/:user_id',
      same: { access_level: 10 },
      other: { access_level: 20 },
    },
    {
      table: 'invitations',
      id: (await invitations.executeTakeFirstOrThrow()).id,
      path: `${ofGroup}/invitations/${email}`,
      declared: '/groups/:id/invitations/:email',
      same: { access_level: 20 },
      other: { access_level: 30 },
    },
    {
      table: 'issues',
      id: issue.id,
      path: `${ofProject}/issues/${issue.iid}`,
      declared: '/projects/:id/issues/:issue_iid',
      same: { title: issue.title, labels: 'a', weight: 2, state_event: 'reopen' },
      other: { title: 'Another' },
    },
    {
      table: 'epics',
      id: epic.id,
      path: `${ofGroup}/epics/${epic.iid}`,
      declared: '/groups/:id/epics/:epic_iid',
      same: { title: epic.title, labels: 'a', state_event: 'reopen' },
      other: { title: 'Another' },
    },
    {
      ...{
        table: 'merge_requests',
        id: merging.id,
        path: ofMerging,
        declared: '/projects/:id/merge_requests/:merge_request_iid',
      },
      same: { title: 'Merge', labels: 'a', target_branch: 'main' },
      other: { title: 'Another' },
    },
    await noteOf('/projects/:id/merge_requests/:merge_request_iid/notes/:note_id', `${ofMerging}/notes`),
    await threadOf(
      '/projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes/:note_id',
      `${ofMerging}/discussions`,
    ),
    await noteOf('/projects/:id/issues/:issue_iid/notes/:note_id', `${ofProject}/issues/${issue.iid}/notes`),
    await noteOf('/groups/:id/epics/:epic_id/notes/:note_id', `${ofGroup}/epics/${epic.id}/notes`),
    await threadOf(
      '/projects/:id/issues/:issue_iid/discussions/:discussion_id/notes/:note_id',
      `${ofProject}/issues/${issue.iid}/discussions`,
    ),
    await threadOf(
      '/groups/:id/epics/:epic_id/discussions/:discussion_id/notes/:note_id',
      `${ofGroup}/epics/${epic.id}/discussions`,
    ),
    await threadOf(
      '/projects/:id/repository/commits/:commit_id/discussions/:discussion_id/notes/:note_id',
      `${ofProject}/repository/commits/main/discussions`,
    ),
    ...[
      await thing('/projects/:id/milestones/:milestone_id', `${ofProject}/milestones`, 'milestones', milestone, {
        title: 'Autumn',
      }),
      await thing(
        '/groups/:id/milestones/:milestone_id',
        `${ofGroup}/milestones`,
        'milestones',
        { ...milestone, title: 'Summer' },
        { title: 'Winter' },
      ),
      await thing(
        '/projects/:id/freeze_periods/:freeze_period_id',
        `${ofProject}/freeze_periods`,
        'freeze_periods',
        period,
        {
          freeze_end: '0 3 * * *',
        },
      ),
      await thing(
        '/projects/:id/environments/:environment_id',
        `${ofProject}/environments`,
        'environments',
        { name: 'staging', external_url: 'https://a.example', description: null, tier: 'staging' },
        { tier: 'other' },
      ),
      await thing(
        '/groups/:id/compliance_frameworks/:framework_id',
        `${ofGroup}/compliance_frameworks`,
        'compliance_frameworks',
        {
          ...{ name: 'Safe', description: 'For all', color: '#112233', default: true },
          requirements: [{ name: 'Read', controls: [{ name: 'minimum_approvals_required_1' }] }],
        },
        { requirements: [] },
      ),
      await thing(
        '/groups/:id/iteration_cadences/:cadence_id',
        `${ofGroup}/iteration_cadences`,
        'iteration_cadences',
        { title: 'Sprints', automatic: false },
        { title: 'Laps' },
      ),
      await thing(
        '/projects/:id/labels/:label_id',
        `${ofProject}/labels`,
        'labels',
        { name: 'ripe', color: '#112233' },
        { color: '#445566' },
      ),
    ],
    await noteOf('/projects/:id/snippets/:snippet_id/notes/:note_id', `${ofProject}/snippets/${discussed.id}/notes`),
    await threadOf(
      '/projects/:id/snippets/:snippet_id/discussions/:discussion_id/notes/:note_id',
      `${ofProject}/snippets/${discussed.id}/discussions`,
    ),
    await thing('/projects/:id/snippets/:snippet_id', `${ofProject}/snippets`, 'snippets', snippet, {
      title: 'Another',
    }),
    await thing('/snippets/:id', '/snippets', 'snippets', snippet, { description: 'Other' }),
    {
      table: 'member_roles',
      id: (await make('/member_roles', role, admin)).id,
      path: '',
      by: admin,
      method: 'patch',
      ...{
        declared: '/member_roles/:member_role_id',
        same: role,
        other: { name: `another-${await addRole(here, ['read_code'])}` },
      },
    },
    {
      table: 'clusters',
      id: (await make('/admin/clusters/add', cluster, admin)).id,
      path: '',
      by: admin,
      declared: '/admin/clusters/:cluster_id',
      same: { name: 'one' },
      other: { name: 'two' },
    },
    {
      table: 'feature_flags',
      id: flag_id,
      path: `${ofProject}/feature_flags/press`,
      declared: '/projects/:id/feature_flags/:feature_flag_name',
      same: { name: flag.name, description: flag.description, active: true },
      other: { active: false },
    },
    {
      table: 'feature_flag_user_lists',
      id: list_id,
      path: `${ofProject}/feature_flags_user_lists/${list_iid}`,
      declared: '/projects/:id/feature_flags_user_lists/:iid',
      same: list,
      other: { user_xids: 'hazel' },
    },
    {
      table: 'pipeline_schedules',
      id: schedule_id,
      path: `${ofProject}/pipeline_schedules/${schedule_id}`,
      declared: '/projects/:id/pipeline_schedules/:pipeline_schedule_id',
      same: { description: 'Nightly', cron: '0 1 * * *', inputs: [{ name: 'depth', value: 3 }] },
      other: { description: 'Weekly' },
    },
    {
      table: 'pipeline_triggers',
      id: trigger_id,
      path: `${ofProject}/triggers/${trigger_id}`,
      declared: '/projects/:id/triggers/:trigger_id',
      same: { description: 'Nightly' },
      other: { description: 'Weekly' },
    },
    {
      table: 'resource_groups',
      id: group_id,
      path: `${ofProject}/resource_groups/production`,
      declared: '/projects/:id/resource_groups/:key',
      same: { process_mode: 'oldest_first' },
      other: { process_mode: 'unordered' },
    },
    {
      table: 'pipelines',
      id: pipeline.id,
      path: `${ofProject}/pipelines/${pipeline.id}/metadata`,
      declared: '/projects/:id/pipelines/:pipeline_id/metadata',
      same: { name: 'Nightly' },
      other: { name: 'Weekly' },
    },
    {
      table: 'vulnerabilities',
      id: vulnerability.id,
      path: `${ofProject}/vulnerabilities/${vulnerability.id}`,
      declared: '/projects/:id/vulnerabilities/:vulnerability_id',
      same: { state: 'dismissed' },
      other: { state: 'resolved' },
    },
  ].map((each): Case => ({ ...each, path: each.path || each.declared.replace(/:\w+$/, String(each.id)) }) as Case);
}

test('an update that changes nothing leaves updated_at alone', async () => {
  const here = await world({});
  const cases = await casesIn(here);
  const tried = new Set(cases.map(({ declared }) => declared));
  const missing = endpoints.filter(
    ({ method, path, returns, alias_of }) =>
      (method === 'PUT' || method === 'PATCH') &&
      alias_of === undefined &&
      shows(returns.schema as Schema) &&
      !tried.has(path),
  );
  assert.deepEqual(
    missing.map(({ path }) => path).filter((path) => !others.has(path)),
    [],
  );
  for (const { table, id, path, method = 'put', same, other, by = here.as('owner') } of cases) {
    const send = async (values: object) => {
      const { status, body } = await by[method](path, { ...values });
      assert.equal(status, 200, `${path} ${JSON.stringify(body)}`);
      const { rows } = await sql<{ updated_at: string }>`
        select updated_at from ${sql.table(table)} where id = ${id}`.execute(here.db);
      return rows[0]!.updated_at;
    };
    // Only the second of two equal updates changes nothing.
    await send(same);
    await sql`update ${sql.table(table)} set updated_at = '2020-01-01' where id = ${id}`.execute(here.db);
    assert.match(await send(same), /^2020-01-01/, `${path} ${JSON.stringify(same)}`);
    assert.doesNotMatch(await send(other), /^2020-01-01/, `${path} ${JSON.stringify(other)}`);
  }
});
