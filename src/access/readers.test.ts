import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RawBuilder } from 'kysely';
import { filledWorld, headOf } from '../../test/support/repository.ts';
import { type Persona, type World, world } from '../../test/support/world.ts';
import {
  commitKind,
  isReaderOf,
  readsInternalNotesOn,
  refreshAuthorizations,
  snippetKind,
  theEpic,
  theIssue,
} from './index.ts';

const personas: readonly Persona[] = [
  'admin',
  'outsider',
  'guest',
  'planner',
  'reporter',
  'developer',
  'maintainer',
  'owner',
];

/** The personas that match a predicate on rows of `users`. */
async function whoReads({ db, people }: World, predicate: RawBuilder<unknown>): Promise<Persona[]> {
  const rows = await db
    .selectFrom('users')
    .select('id')
    .where(predicate as RawBuilder<boolean>)
    .execute();
  return personas.filter((persona) => rows.some(({ id }) => id === people[persona].id));
}

/** The personas who can see a resource through the API. */
async function whoIsShown({ as }: World, url: string): Promise<Persona[]> {
  const statuses = await Promise.all(personas.map(async (persona) => (await as(persona).get(url)).status));
  return personas.filter((_, index) => statuses[index] === 200);
}

test('the readers of an issue are the callers it is shown to', async () => {
  const here = await world();
  const { db, project, people } = here;
  const { iid, id } = (await here.as('planner').post(`/projects/${project.id}/issues`, { title: 'x' })).body;
  const readers = new Set<string>();
  for (const visibility of ['private', 'internal', 'public'])
    for (const issues_access_level of ['enabled', 'private', 'disabled'])
      for (const confidential of [false, true])
        for (const external of [false, true])
          for (const author_id of [people.planner.id, people.outsider.id]) {
            // The last two matter only there.
            if ((external && visibility !== 'internal') || (author_id === people.outsider.id && !confidential))
              continue;
            await db
              .updateTable('projects')
              .set({ visibility, issues_access_level })
              .where('id', '=', project.id)
              .execute();
            await db.updateTable('issues').set({ confidential, author_id }).where('id', '=', id).execute();
            await db.updateTable('users').set({ external }).where('id', '=', people.outsider.id).execute();
            const shown = await whoIsShown(here, `/projects/${project.id}/issues/${iid}`);
            const where = JSON.stringify({ visibility, issues_access_level, confidential, external, author_id });
            assert.deepEqual(await whoReads(here, isReaderOf(theIssue(id))), shown, where);
            readers.add(shown.join());
          }
  assert.ok(readers.size >= 4, 'the cases differ');
  assert.deepEqual(
    await whoReads(here, readsInternalNotesOn(theIssue(id))),
    personas.filter((name) => name !== 'outsider' && name !== 'guest'),
  );
});

test('the readers of a snippet are the callers it is shown to', async () => {
  const here = await world();
  const { db, project, people } = here;
  const files = [{ file_path: 'a.txt', content: 'apples' }];
  const { id } = (await here.as('reporter').post(`/projects/${project.id}/snippets`, { title: 'x', files })).body;
  const readers = new Set<string>();
  for (const of_project of ['private', 'internal', 'public'])
    for (const snippets_access_level of ['enabled', 'private', 'disabled'])
      for (const visibility of ['private', 'internal', 'public'])
        for (const external of [false, true]) {
          if (external && (of_project === 'private' || visibility !== 'internal')) continue;
          await db
            .updateTable('projects')
            .set({ visibility: of_project, snippets_access_level })
            .where('id', '=', project.id)
            .execute();
          await db.updateTable('snippets').set({ visibility }).where('id', '=', id).execute();
          await db.updateTable('users').set({ external }).where('id', '=', people.outsider.id).execute();
          const shown = await whoIsShown(here, `/projects/${project.id}/snippets/${id}`);
          const where = JSON.stringify({ of_project, snippets_access_level, visibility, external });
          assert.deepEqual(await whoReads(here, isReaderOf({ kind: snippetKind, id })), shown, where);
          const listed = await Promise.all(
            personas.map(async (persona) => {
              const { body } = await here.as(persona).get('/snippets/all', { per_page: 100 });
              return body.some((snippet: { id: number }) => snippet.id === id) ? persona : [];
            }),
          );
          assert.deepEqual(listed.flat(), shown, `the list, ${where}`);
          readers.add(shown.join());
        }
  assert.ok(readers.size >= 3, 'the cases differ');
});

test('the readers of a commit are the callers its discussions are shown to', async () => {
  const here = await filledWorld();
  const { db, project, people } = here;
  const commit = { kind: commitKind, project_id: project.id, sha: (await headOf(here))! };
  const readers = new Set<string>();
  for (const visibility of ['private', 'internal', 'public'])
    for (const repository_access_level of ['enabled', 'private', 'disabled'])
      for (const external of [false, true]) {
        if (external && visibility !== 'internal') continue;
        await db
          .updateTable('projects')
          .set({ visibility, repository_access_level })
          .where('id', '=', project.id)
          .execute();
        await db.updateTable('users').set({ external }).where('id', '=', people.outsider.id).execute();
        const shown = await whoIsShown(here, `/projects/${project.id}/repository/commits/${commit.sha}/discussions`);
        const where = JSON.stringify({ visibility, repository_access_level, external });
        assert.deepEqual(await whoReads(here, isReaderOf(commit)), shown, where);
        readers.add(shown.join());
      }
  assert.ok(readers.size >= 4, 'the cases differ');
});

test('a guest whose role has read_code reads a commit', async () => {
  const here = await filledWorld();
  const { db, group, project, people } = here;
  const commit = { kind: commitKind, project_id: project.id, sha: (await headOf(here))! };
  assert.ok(!(await whoReads(here, isReaderOf(commit))).includes('guest'));
  const role = { name: 'Reads', base_access_level: 10, read_code: true };
  const { id } = await db.insertInto('member_roles').values(role).returning('id').executeTakeFirstOrThrow();
  await db.transaction().execute(async (tx) => {
    const own = tx.updateTable('members').set({ member_role_id: id }).where('user_id', '=', people.guest.id);
    await own.where('group_id', '=', group.id).execute();
    await refreshAuthorizations(tx, { group_id: group.id }, [people.guest.id]);
  });
  assert.ok((await whoReads(here, isReaderOf(commit))).includes('guest'));
  assert.equal(
    (await here.as('guest').get(`/projects/${project.id}/repository/commits/${commit.sha}/discussions`)).status,
    200,
  );
});

test('an assignee reads a confidential issue', async () => {
  const here = await world();
  const issue = { title: 'x', confidential: true, assignee_ids: [here.people.guest.id] };
  const { id } = (await here.as('planner').post(`/projects/${here.project.id}/issues`, issue)).body;
  assert.ok((await whoReads(here, isReaderOf(theIssue(id)))).includes('guest'));
});

test('the readers of an epic are the callers it is shown to', async () => {
  const here = await world();
  const { db, group, people } = here;
  const { iid, id } = (await here.as('planner').post(`/groups/${group.id}/epics`, { title: 'x' })).body;
  const below = (await here.as('owner').post('/projects', { name: 'below', namespace_id: group.id })).body;
  const readers = new Set<string>();
  for (const isBelow of [false, true]) {
    if (isBelow)
      await here.as('owner').post(`/projects/${below.id}/members`, { user_id: people.outsider.id, access_level: 30 });
    for (const visibility of ['private', 'internal', 'public'])
      for (const confidential of [false, true])
        for (const external of [false, true]) {
          await db.updateTable('namespaces').set({ visibility }).where('id', '=', group.id).execute();
          await db.updateTable('epics').set({ confidential }).where('id', '=', id).execute();
          await db.updateTable('users').set({ external }).where('id', '=', people.outsider.id).execute();
          const shown = await whoIsShown(here, `/groups/${group.id}/epics/${iid}`);
          const where = JSON.stringify({ isBelow, visibility, confidential, external });
          assert.deepEqual(await whoReads(here, isReaderOf(theEpic(id))), shown, where);
          readers.add(shown.join());
        }
  }
  assert.ok(readers.size >= 3, 'the cases differ');
});
