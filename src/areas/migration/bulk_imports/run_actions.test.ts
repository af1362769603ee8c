import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entitiesOf, migrated, runMigrations } from '../../../../test/support/migrations.ts';
import { migrationPlace, type SourceEntity } from '../../../../test/support/source.ts';

const times = { created_at: '2020-01-02T03:04:05.678Z', updated_at: '2020-01-02T03:04:05.678Z' };
const issue = (iid: number, description: string) => ({
  ...{ iid, title: `Pick ${iid}`, description, state: 'opened', author_id: 1, label_links: [], notes: [], ...times },
});

/** A project with an issue. */
const projectWith = (id: number, full_path: string, description: string, relations: SourceEntity['relations']): SourceEntity => ({
  ...{ type: 'project', id, full_path, relations: { self: [{}], issues: [issue(1, description)], ...relations } },
});

test('what leads from one project to another finds it, also when it arrives later', async (t) => {
  const relates = { source_iid: 1, target_iid: 1, link_type: 'relates_to', created_at: times.created_at };
  const request = {
    ...{ iid: 1, title: 'Graft', description: '', state: 'closed', author_id: 1, merge_status: 'can_be_merged', ...times },
    ...{ source_branch: 'graft', target_branch: 'main', source_project_id: 9, target_project_id: 8, notes: [] },
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
