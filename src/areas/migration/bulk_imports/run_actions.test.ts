import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { entitiesOf, migrated, runMigrations } from '../../../../test/support/migrations.ts';
import { migrationPlace, type SourceEntity } from '../../../../test/support/source.ts';

const times = { created_at: '2020-01-02T03:04:05.678Z', updated_at: '2020-01-02T03:04:05.678Z' };
const issue = (iid: number, description: string) => ({
  iid,
  title: `Pick ${iid}`,
  description,
  state: 'opened',
  author_id: 1,
  label_links: [],
  notes: [],
  ...times,
});

/** A project with an issue. */
const projectWith = (
  id: number,
  full_path: string,
  description: string,
  relations: SourceEntity['relations'],
): SourceEntity => ({
  ...{ type: 'project', id, full_path, relations: { self: [{}], issues: [issue(1, description)], ...relations } },
});

test('references from one project to another are resolved, even if it is imported later', async (t) => {
  const relates = { source_iid: 1, target_iid: 1, link_type: 'relates_to', created_at: times.created_at };
  const request = {
    iid: 1,
    title: 'Graft',
    description: '',
    state: 'closed',
    author_id: 1,
    merge_status: 'can_be_merged',
    ...times,
    source_branch: 'graft',
    target_branch: 'main',
    source_project_id: 9,
    target_project_id: 8,
    notes: [],
  };
  const here = await migrationPlace(t, [
    { type: 'group', id: 7, full_path: 'orchard', relations: { self: [{}] } },
    projectWith(8, 'orchard/apples', 'As in orchard/meadow/fork#1', {
      issue_links: [{ ...relates, target_full_path: 'orchard/meadow/fork' }],
      merge_requests: [request],
    }),
    { type: 'group', id: 6, full_path: 'orchard/meadow', relations: { self: [{}] } },
    projectWith(9, 'orchard/meadow/fork', 'As in orchard/apples#1', {}),
  ]);
  const id = await migrated(here);
  await runMigrations(here);
  const entities = await entitiesOf(here, id);
  const projectOf = (path: string) => entities.find((each) => each.source_full_path === path)!;
  const [apples, fork] = [projectOf('orchard/apples'), projectOf('orchard/meadow/fork')];
  assert.deepEqual([apples.failures, fork.failures], [[], []]);
  const { body: picked } = await here.as('owner').get(`/projects/${apples.project_id}/issues/1`);
  assert.equal(picked.description, `As in ${fork.destination_full_path}#1`);
  const { body: links } = await here.as('owner').get(`/projects/${apples.project_id}/issues/1/links`);
  assert.deepEqual(
    links.map((link: { references: { full: string } }) => link.references.full),
    [`${fork.destination_full_path}#1`],
  );
  const { body: graft } = await here.as('owner').get(`/projects/${apples.project_id}/merge_requests/1`);
  assert.deepEqual([graft.source_project_id, graft.target_project_id], [fork.project_id, apples.project_id]);
});

test('a fork is linked to its source if that was migrated with it, and reports a failure otherwise', async (t) => {
  const forkOf = (id: number) => ({ forked_from_project: { id, path_with_namespace: 'somewhere/else' } });
  const here = await migrationPlace(t, [
    { type: 'group', id: 7, full_path: 'orchard', relations: { self: [{}] } },
    { ...projectWith(9, 'orchard/fork', '', {}), attributes: forkOf(8) },
    projectWith(8, 'orchard/trunk', '', {}),
    { ...projectWith(10, 'orchard/stranger', '', {}), attributes: forkOf(99) },
  ]);
  const id = await migrated(here);
  await runMigrations(here);
  const entities = await entitiesOf(here, id);
  const projectOf = (path: string) => entities.find((each) => each.source_full_path === `orchard/${path}`)!;
  const [fork, trunk, stranger] = [projectOf('fork'), projectOf('trunk'), projectOf('stranger')];
  const { body: shown } = await here.as('owner').get(`/projects/${fork.project_id}`);
  assert.equal(shown.forked_from_project.id, trunk.project_id);
  assert.deepEqual([fork.failures, fork.stats.fork], [[], { source: 1, fetched: 1, imported: 1 }]);
  assert.deepEqual(
    stranger.failures.map(({ relation, exception_message }) => [relation, exception_message]),
    [['fork', 'The project that it was forked from is not part of the migration.']],
  );
});

test('a group that waits for the source delays only its own contents', async (t) => {
  const here = await migrationPlace(t, [
    { type: 'group', id: 7, full_path: 'orchard', relations: { self: [{}] } },
    { type: 'group', id: 5, full_path: 'orchard/cellar', relations: { self: [{}] } },
    projectWith(10, 'orchard/cellar/barrels', '', {}),
    ...[1, 2, 3, 4].flatMap((number): SourceEntity[] => [
      { type: 'group', id: 20 + number, full_path: `orchard/row${number}`, relations: { self: [{}] } },
      projectWith(30 + number, `orchard/row${number}/trees`, 'As in orchard/cellar/barrels#1', {}),
    ]),
  ]);
  const { db, source } = here;
  const id = await migrated(here);
  // As a source that is away for this group alone; the job that waits is looked for once more at the end.
  let isAway = true;
  source.answers.set('POST /groups/orchard%2Fcellar/export_relations', async (response) => {
    const { rows } = await sql<{ path: string }>`
      select source_full_path as path from bulk_import_entities entities where bulk_import_id = ${id} and entity_type = 'project'
         and exists (select from bulk_import_relations where entity_id = entities.id and relation = 'issues' and state = 'finished')`.execute(
      db,
    );
    isAway = rows.length < 4;
    response.writeHead(isAway ? 503 : 202, { 'content-type': 'application/json' }).end('{}');
  });
  await runMigrations(here);
  assert.equal(isAway, false, 'issues of all other projects have arrived');
  const entities = await entitiesOf(here, id);
  assert.deepEqual(new Set(entities.map(({ status }) => status)), new Set(['finished']));
  const trees = entities.find((each) => each.source_full_path === 'orchard/row1/trees')!;
  const { body: issue } = await here.as('owner').get(`/projects/${trees.project_id}/issues/1`);
  assert.equal(issue.description, `As in ${here.group.full_path}/copy/cellar/barrels#1`);
});

test('a retry imports refused records, and none twice', async (t) => {
  const period = (freeze_start: string) => ({ freeze_start, freeze_end: '0 8 * * 1', cron_timezone: 'UTC', ...times });
  const label = (title: string, color: string) => ({ title, color, type: 'ProjectLabel', priorities: [], ...times });
  const snippet = (title: string) => ({
    title,
    visibility_level: 0,
    author_id: 1,
    content: 'text',
    file_name: 'a.txt',
    ...times,
  });
  const link = (target_iid: number) => ({
    source_iid: 1,
    target_iid,
    link_type: 'relates_to',
    created_at: times.created_at,
  });
  const note = { note: 'Ripe', noteable_type: 'Issue', author_id: 1, system: false, award_emoji: [], ...times };
  const issues = [{ ...issue(1, ''), notes: [note, { ...note, created_at: 'never' }] }, issue(2, ''), issue(3, '')];
  const apples = projectWith(8, 'orchard/apples', '', {
    issues: [...issues, { ...issue(4, ''), state: 'lost' }],
    labels: [label('green', '#112233'), label('red', 'none')],
    freeze_periods: [period('0 23 * * 5'), period('never')],
    snippets: [snippet('Notes'), snippet('')],
    issue_links: [link(2), link(9)],
  });
  const here = await migrationPlace(t, [apples]);
  const { as, source, db } = here;
  const id = await migrated(here, { source_type: 'project_entity', source_full_path: 'orchard/apples' });
  await runMigrations(here);
  const failed = (await entitiesOf(here, id))[0]!;
  const half = { source: 2, fetched: 2, imported: 1 };
  const { stats } = failed;
  assert.deepEqual([stats.labels, stats.freeze_periods, stats.snippets, stats.issue_links], [half, half, half, half]);
  assert.deepEqual(failed.stats.issues, { source: 4, fetched: 4, imported: 3 });
  source.entities = [
    {
      ...apples,
      relations: {
        ...apples.relations,
        issues: [...issues, issue(4, '')],
        labels: [label('red', '#332211'), label('green', '#112233')],
        freeze_periods: [period('0 22 * * 5'), period('0 23 * * 5')],
        snippets: [snippet('Notes'), snippet('More')],
        issue_links: [link(2), link(3)],
      },
    },
  ];
  assert.equal((await as('owner').post(`/bulk_imports/${id}/retry`)).status, 200);
  await runMigrations(here);
  const [done] = await entitiesOf(here, id);
  const whole = { source: 2, fetched: 2, imported: 2 };
  assert.deepEqual(
    [done!.stats.labels, done!.stats.freeze_periods, done!.stats.snippets, done!.stats.issue_links],
    [whole, whole, whole, whole],
  );
  assert.deepEqual(done!.stats.issues, { source: 4, fetched: 4, imported: 4 });
  assert.deepEqual(done!.stats['issues, notes'], { source: 2, fetched: 2, imported: 1 });
  assert.deepEqual(
    done!.failures.map(({ relation }) => relation),
    ['issues, notes'],
  );
  for (const list of ['labels?include_ancestor_groups=false', 'freeze_periods', 'snippets'])
    assert.equal((await as('owner').get(`/projects/${done!.project_id}/${list}`)).body.length, 2, list);
  const notes = await db
    .selectFrom('notes')
    .innerJoin('issues', 'issues.id', 'issue_id')
    .select('notes.id')
    .where('issues.project_id', '=', done!.project_id!)
    .execute();
  assert.equal(notes.length, 1);
});

test('a retry starts from scratch if the project was deleted', async (t) => {
  const label = { title: 'green', color: 'none', type: 'ProjectLabel', priorities: [], ...times };
  const here = await migrationPlace(t, [projectWith(8, 'orchard/apples', 'Ripe', { labels: [label] })]);
  const { as, db } = here;
  const id = await migrated(here, { source_type: 'project_entity', source_full_path: 'orchard/apples' });
  await runMigrations(here);
  const [first] = await entitiesOf(here, id);
  await db.deleteFrom('projects').where('id', '=', first!.project_id!).execute();
  assert.equal((await as('owner').post(`/bulk_imports/${id}/retry`)).status, 200);
  await runMigrations(here);
  const [again] = await entitiesOf(here, id);
  assert.deepEqual([again!.status, again!.stats, again!.failures.length], ['finished', first!.stats, 1]);
  assert.notEqual(again!.project_id, first!.project_id);
  assert.equal((await as('owner').get(`/projects/${again!.project_id}/issues/1`)).body.description, 'Ripe');
});
