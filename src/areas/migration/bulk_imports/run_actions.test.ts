import assert from 'node:assert/strict';
import { test } from 'node:test';
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

test('what leads from one project to another finds it, also when it arrives later', async (t) => {
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

test('a retry brings what was refused, and nothing twice', async (t) => {
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

test('a retry begins from nothing where the project has been deleted', async (t) => {
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
