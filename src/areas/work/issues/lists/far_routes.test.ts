/** Pages behind the 1,000th row, which are found in other ways than those before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type World, world } from '../../../../../test/support/world.ts';

/** Projects of the world's group with issues each, of which nine in ten have the project's own label `many`, and the others `few`. */
async function fill({ db, as, group, people, project }: World, issues: number): Promise<number[]> {
  const projects = [project.id];
  for (const name of ['second', 'third'])
    projects.push(
      (await as('owner').post('/projects', { name: `${name}-${project.id}`, namespace_id: group.id })).body.id,
    );
  await sql`
    insert into labels (project_id, title, color)
    select project_id, title, '#112233' from unnest(${projects}::bigint[]) project_id, unnest(array['many', 'few']) title`.execute(
    db,
  );
  await sql`
    insert into issues (project_id, iid, title, author_id, state, weight, created_at, updated_at)
    select project_id, n, left(md5(n::text), 2), ${people.developer.id}::bigint, case when n % 3 = 0 then 'closed' else 'opened' end,
           case when n % 5 < 4 then n % 7 end, now() - interval '1 second' * (n * 7919 % ${issues}::integer), now() - interval '1 minute' * (n % 400)
      from unnest(${projects}::bigint[]) project_id, generate_series(1, ${issues}::integer) n`.execute(db);
  await sql`
    insert into issue_labels (issue_id, label_id) select issues.id, labels.id from issues join labels using (project_id)
     where project_id = any(${projects}::bigint[]) and labels.title = case when iid % 10 > 0 then 'many' else 'few' end`.execute(
    db,
  );
  return projects;
}

/** The ids of all issues with the label `many` in some order. */
async function sorted({ db }: World, projects: number[], where: string, order: string): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select issues.id from issues join issue_labels on issue_id = issues.id join labels on labels.id = label_id
     where labels.title = 'many' and issues.project_id = any(${projects}::bigint[]) and ${sql.raw(where)} order by ${sql.raw(order)}, issues.id desc`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

const idsIn = (body: readonly { id: number }[]) => body.map(({ id }) => id);

test('far pages of many issues of several projects, with a label or without another, are those of the sorted list', async () => {
  const here = await world({});
  const projects = await fill(here, 1100);
  for (const [order_by, sort, order] of [
    ['created_at', 'desc', 'issues.created_at desc'],
    ['title', 'asc', 'lower(issues.title)'],
    ['weight', 'desc', 'weight desc nulls last'],
    ['updated_at', 'asc', 'issues.updated_at'],
  ] as const)
    for (const [filter, where] of [
      [{ labels: 'many' }, 'true'],
      [{ labels: 'many', state: 'opened' }, `state = 'opened'`],
      [{ not: { labels: 'few' } }, 'true'],
    ] as const) {
      const expected = await sorted(here, projects, where, order);
      // What the first of them have read tells the others where they begin.
      for (const [page, per_page] of [
        [14, 100],
        [12, 100],
        [13, 100],
        [57, 20],
        [41, 30],
        [11, 100],
        [15, 100],
        [Math.ceil(expected.length / 100), 100],
        // Behind the end.
        [90, 100],
      ] as const) {
        const asked = { ...filter, order_by, sort, page, per_page };
        const { body, headers } = await here.as('owner').get(`/groups/${here.group.id}/issues`, asked);
        assert.deepEqual(idsIn(body), expected.slice((page - 1) * per_page, page * per_page), JSON.stringify(asked));
        assert.equal(headers.get('x-total'), String(expected.length), JSON.stringify(asked));
      }
    }
});
