/** The world of the test of lists: everything that it compares. */
import { sql } from 'kysely';
import type { Database } from '../../src/db/index.ts';
import type { Random } from '../support/random.ts';
import { type World, world } from '../support/world.ts';
import { addPlaces, type Place, type Places } from './places.ts';
import { addPlans, type Plans } from './plans.ts';
import { drawn, type Kind, type Row } from './rows.ts';
import { insert, write } from './writing.ts';

export interface ListWorld extends Places {
  here: World;
  users: readonly { id: number; username: string }[];
  plans: Plans;
  rows: Record<Kind, Row[]>;
}

/** Adds approval rules that name users: one of each merge request that has named ones, and one of a project. */
async function addApprovalRules(db: Database, rows: Row[], project: Place, user_id: number): Promise<void> {
  const named = rows.filter((row) => row.named.length > 0);
  const rule = { name: 'Readers', approvals_required: 1 };
  const ids = await insert(
    db,
    'approval_rules',
    named.map(({ id }) => ({ ...rule, merge_request_id: id })),
  );
  const users = ids.flatMap((id, index) =>
    named[index]!.named.map((each) => ({ approval_rule_id: id, user_id: each })),
  );
  await insert(db, 'approval_rule_users', users);
  const [approval_rule_id] = await insert(db, 'approval_rules', [{ ...rule, project_id: project.id }]);
  await insert(db, 'approval_rule_users', [{ approval_rule_id, user_id }]);
  for (const row of rows) if (row.place === project) Object.assign(row, { named: [...row.named, user_id] });
}

/** A world in which one project, and one group, has so many rows of each kind that there are far pages. */
export async function listWorld(random: Random): Promise<ListWorld> {
  const here = await world({});
  const { db, people } = here;
  const places = await addPlaces(here);
  const { groups, projects } = places;
  const users = [people.guest, people.planner, people.outsider, people.developer];
  const stock = {
    users: users.map(({ id }) => id),
    plans: await addPlans(db, places),
    projects: Object.values(projects),
  };
  const rowsOf = async (kind: Kind, count: (place: Place) => number, epics: Row[] = []): Promise<Row[]> => {
    const all = kind === 'epic' ? Object.values(groups) : Object.values(projects);
    const rows = all.flatMap((place) =>
      Array.from({ length: count(place) }, (_, index) => drawn(random, kind, place, index + 1, { ...stock, epics })),
    );
    await write(db, kind, rows);
    return rows;
  };
  const epics = await rowsOf('epic', ({ name }) => (name === 'top' ? 200 : 30));
  const issues = await rowsOf('issue', ({ name }) => (name === 'main' ? 200 : 30), epics);
  await insert(
    db,
    'epic_issues',
    issues.flatMap(({ id, epic }) => (epic ? { epic_id: epic.id, issue_id: id, relative_position: id } : [])),
  );
  // A trigger places new issues.
  const unplaced = issues.filter(({ relative_position }) => relative_position === null).map(({ id }) => id);
  await sql`update issues set relative_position = null where id = any(${unplaced}::bigint[])`.execute(db);
  const mergeRequests = await rowsOf('merge_request', ({ name }) => (name === 'main' ? 200 : 30));
  await addApprovalRules(db, mergeRequests, projects.shown, people.guest.id);
  await sql`analyze`.execute(db);
  return {
    here,
    ...places,
    users,
    plans: stock.plans,
    rows: { issue: issues, merge_request: mergeRequests, epic: epics },
  };
}

/** Adds empty public projects, more than lists name by their ids. */
export async function addManyProjects({ here, groups }: ListWorld): Promise<void> {
  await sql`
    insert into projects (namespace_id, name, path, full_path, visibility, default_branch)
    select ${groups.open.id}, 'empty-' || n, 'empty-' || n, ${`open-${groups.top.id}/empty-`} || n, 'public', 'main'
      from generate_series(1, 1100) n`.execute(here.db);
}
