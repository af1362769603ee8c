import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { sql } from 'kysely';
import { entitiesOf, migrated, runMigrations } from '../../../../../test/support/migrations.ts';
import { migrationPlace, type SourceEntity } from '../../../../../test/support/source.ts';

const times = { created_at: '2020-01-02T03:04:05.678Z', updated_at: '2020-01-02T03:04:05.678Z' };

const systemNote = (note: string, action: string) => ({
  note,
  noteable_type: 'Issue',
  author_id: 3,
  system: true,
  noteable_id: 77,
  project_id: 8,
  ...times,
  author: { name: 'Ada' },
  award_emoji: [],
  system_note_metadata: { action, commit_count: null, ...times },
});

/** As sources of the public kind write it: with their ids, and without what only we have. */
const issue = (iid: number, notes: object[]) => ({
  ...{
    iid,
    title: `Pick ${iid}`,
    description: 'for @ada',
    state: 'opened',
    author_id: 3,
    project_id: 8,
    lock_version: 0,
    ...times,
  },
  label_links: [],
  notes,
  issue_assignees: [{ user_id: 4 }],
  designs: [],
  zoom_meetings: [],
  sentry_issue: null,
});

/** As a project shows the groups that it is shared with. */
const shared_with_groups = [
  { group_id: 12, group_full_path: 'orchard/pressers', group_access_level: 30, expires_at: null },
];

const project = (
  id: number,
  name: string,
  issues: object[],
  answers: SourceEntity['answers'] = {},
  shares: object[] = [],
): SourceEntity => ({
  type: 'project',
  id,
  full_path: `orchard/${name}`,
  attributes: { name, issues_access_level: 'private', shared_with_groups: shares },
  relations: {
    self: [{ description: 'Fruit', visibility_level: 0, archived: false, approvals_before_merge: 0 }],
    project_feature: [{ issues_access_level: 10, pages_access_level: 10, ...times }],
    issues,
    protected_branches: [
      {
        name: 'main',
        ...times,
        merge_access_levels: [{ access_level: 40 }],
        push_access_levels: [{ access_level: 40 }],
      },
    ],
  },
  answers,
});

for (const version of ['14.10.5', '15.11.0', '17.3.0'])
  test(`relations that a source of version ${version} does not export are read over REST`, async (t) => {
    const related = (path: string, iid: number, link_type: string) => ({
      ...{ iid, link_type, references: { full: `${path}#${iid}` }, link_created_at: times.created_at },
    });
    const deployed = { id: 1, iid: 4, ref: 'main', sha: '0'.repeat(40), status: 'success' };
    const linked = systemNote('marked this issue as related to #2', 'relate');
    const rule = {
      id: 1,
      name: 'Two pairs of eyes',
      rule_type: 'regular',
      approvals_required: 1,
      groups: [{ id: 12 }],
    };
    const here = await migrationPlace(t, [
      {
        ...{ type: 'group', id: 7, full_path: 'orchard', relations: { self: [{ name: 'Orchard', path: 'orchard' }] } },
        answers: {
          '/push_rule': { id: 1, commit_message_regex: 'Fix', max_file_size: 5, created_at: times.created_at },
        },
      },
      { type: 'group', id: 12, full_path: 'orchard/pressers', relations: { self: [{}] } },
      project(
        8,
        'apples',
        [issue(1, [linked]), issue(2, [linked]), issue(3, [])],
        {
          '/freeze_periods': [
            { id: 1, freeze_start: '0 23 * * 5', freeze_end: '0 8 * * 1', cron_timezone: 'UTC', ...times },
          ],
          '/protected_tags': [{ name: 'v*', create_access_levels: [{ id: 1, access_level: 40, user_id: null }] }],
          '/approval_rules': [{ ...rule, users: [{ id: 3 }], protected_branches: [{ id: 1, name: 'main' }] }],
          '/environments': [{ id: 1, name: 'site', slug: 'site', tier: 'production', state: 'available', ...times }],
          '/protected_environments': [{ name: 'site', deploy_access_levels: [{ id: 1, group_id: 12 }] }],
          '/deployments': [{ ...deployed, environment: { id: 1, name: 'site' }, user: { id: 3 }, ...times }],
          '/issues/1/links': [related('orchard/apples', 2, 'relates_to'), related('orchard/pears', 1, 'blocks')],
          '/issues/2/links': [related('orchard/apples', 1, 'relates_to')],
        },
        shared_with_groups,
      ),
      project(9, 'pears', [issue(1, [systemNote('marked this issue as blocked by orchard/apples#1', 'block')])], {
        '/issues/1/links': [related('orchard/apples', 1, 'is_blocked_by')],
      }),
    ]);
    const { as, source, people, db } = here;
    source.version = version;
    const orders: string[] = [];
    source.answers.set('POST /groups/orchard/export_relations', (response, request) => {
      void text(request).then((body) => {
        orders.push(body);
        response.writeHead(202, { 'content-type': 'application/json' }).end('{}');
      });
    });
    const public_email = `${people.maintainer.username}@example.com`;
    source.users.set('/users/3', { id: 3, username: 'ada', name: 'Ada', public_email });
    source.users.set('/users/4', { id: 4, username: 'bob', name: 'Bob', public_email: '' });
    await as('admin').put('/application/settings', { bulk_import_trusted_sources: source.url });
    const id = await migrated(here);
    await runMigrations(here);
    assert.deepEqual(orders, [version === '17.3.0' ? '{"batched":true}' : '{}']);
    const entities = await entitiesOf(here, id);
    const [top, apples, pears, pressers] = ['', '/apples', '/pears', '/pressers'].map(
      (path) => entities.find((each) => each.source_full_path === `orchard${path}`)!,
    );
    assert.deepEqual([top!.failures, apples!.failures, pears!.failures], [[], [], []]);
    const at = `/projects/${apples!.project_id}`;
    const { body: rules } = await as('owner').get(`/groups/${top!.namespace_id}/push_rule`);
    assert.deepEqual([rules.commit_message_regex, rules.max_file_size], ['Fix', 5]);
    const { body: periods } = await as('owner').get(`${at}/freeze_periods`);
    assert.deepEqual([periods[0].freeze_start, periods[0].created_at], ['0 23 * * 5', times.created_at]);
    const { body: tags } = await as('owner').get(`${at}/protected_tags`);
    assert.deepEqual([tags[0].name, tags[0].create_access_levels[0].access_level], ['v*', 40]);
    const { body: approvals } = await as('owner').get(`${at}/approval_rules`);
    assert.deepEqual(
      [approvals[0].name, approvals[0].users[0].id, approvals[0].protected_branches[0].name],
      ['Two pairs of eyes', people.maintainer.id, 'main'],
    );
    assert.equal(approvals[0].groups[0].id, pressers!.namespace_id);
    const { body: shared } = await as('owner').get(at);
    assert.deepEqual(
      shared.shared_with_groups.map((share: { group_id: number }) => share.group_id),
      [pressers!.namespace_id],
    );
    const { body: deployments } = await as('owner').get(`${at}/deployments`);
    assert.deepEqual(
      deployments.map((each: (typeof deployments)[number]) => [each.iid, each.environment.name, each.user.id]),
      [[4, 'site', people.maintainer.id]],
    );
    const { body: guarded } = await as('owner').get(`${at}/protected_environments`);
    assert.equal(guarded[0].deploy_access_levels[0].group_id, pressers!.namespace_id);
    const { rows: links } = await sql`
      select link_type, target.project_id, target.iid from issue_links
        join issues source on source.id = source_id join issues target on target.id = target_id
       where source.project_id = ${apples!.project_id} order by link_type`.execute(db);
    assert.deepEqual(links, [
      { link_type: 'blocks', project_id: pears!.project_id, iid: 1 },
      { link_type: 'relates_to', project_id: apples!.project_id, iid: 2 },
    ]);
    const { body: picked } = await as('owner').get(`${at}/issues/1`);
    assert.deepEqual(
      [picked.author.id, picked.description],
      [people.maintainer.id, `for @${people.maintainer.username}`],
    );
    const placeholders = await db
      .selectFrom('users')
      .select('username')
      .where('user_type', '=', 'placeholder')
      .execute();
    assert.ok(placeholders.some(({ username }) => username.startsWith('bob_placeholder')));
    assert.equal((await as('owner').get(at)).body.issues_access_level, 'private');
    assert.ok(!source.requests.includes('GET /projects/orchard%2Fapples/issues/3/links'));
    assert.equal(source.requests.filter((asked) => asked === 'GET /users/3').length, 2);
  });

test('a source run by a member attributes no records to other accounts', async (t) => {
  const comment = { note: 'I agree', noteable_type: 'Issue', author_id: 3, author: { name: 'Ada' }, ...times };
  const apples = project(8, 'apples', [issue(1, [comment])], {});
  const members = [{ id: 3, username: 'ada', name: 'Ada', access_level: 50, expires_at: null }];
  const people_of_source = { user_contributions: [] };
  const here = await migrationPlace(t, [
    { ...apples, members, relations: { ...apples.relations, ...people_of_source } },
  ]);
  const { as, source, people, db } = here;
  await as('admin').put('/application/settings', { bulk_import_trusted_sources: '' });
  const { maintainer } = people;
  const public_email = `${maintainer.username}@example.com`;
  source.users.set('/users/3', { id: 3, username: 'ada', name: 'Ada', public_email });
  const events = async () => (await as('maintainer').get(`/users/${maintainer.id}/events`)).body.length;
  const before = await events();
  const id = await migrated(here, { source_type: 'project_entity', source_full_path: 'orchard/apples' });
  await runMigrations(here);
  const [entity] = await entitiesOf(here, id);
  assert.deepEqual(
    entity!.failures.map(({ relation, exception_class }) => `${relation} ${exception_class}`),
    ['members UserNotFound'],
  );
  const at = `/projects/${entity!.project_id}`;
  const { body: picked } = await as('owner').get(`${at}/issues/1`);
  const { body: notes } = await as('owner').get(`${at}/issues/1/notes`);
  for (const { author } of [picked, notes[0]]) assert.match(author.username, /^ada_placeholder_/);
  assert.equal(picked.description, 'for `@ada`');
  const direct = await db
    .selectFrom('members')
    .select('user_id')
    .where('project_id', '=', entity!.project_id)
    .execute();
  assert.ok(!direct.some(({ user_id }) => user_id === maintainer.id));
  assert.equal(await events(), before);
  const { body: proposals } = await as('maintainer').get('/user/placeholder_proposals');
  assert.deepEqual(
    proposals.map(({ source_username }: { source_username: string }) => source_username),
    ['ada'],
  );
});
