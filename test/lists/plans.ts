/** The labels, milestones and iterations that rows of lists have. */
import { dayOf } from '../../src/cron/index.ts';
import type { Database } from '../../src/db/index.ts';
import type { Places } from './places.ts';
import { insert } from './writing.ts';

export interface Label {
  id: number;
  title: string;
  /** By the ids of projects. */
  priorities: Readonly<Record<number, number>>;
}

export interface Milestone {
  id: number;
  title: string;
  state: 'active' | 'closed';
  start_date: string | null;
  due_date: string | null;
  /** What it belongs to, as a name. */
  owner: string;
}

export interface Iteration {
  id: number;
  title: string | null;
  start_date: string;
  due_date: string;
}

export interface Plans {
  /** By the ids of projects and groups. */
  labels: Map<number, Label[]>;
  milestones: Map<number, Milestone[]>;
  iterations: Iteration[];
}

export const dayFromNow = (days: number) => dayOf(new Date(Date.now() + days * 86_400_000));

type Owner = { project_id: number } | { group_id: number };

/** Labels, some of which have priorities in projects. */
async function addLabels(db: Database, owner: Owner, ranked: number[]): Promise<Label[]> {
  const titles = ['many', 'bug', 'level::low', 'level::high', 'level::deep::low', 'rare'];
  // It has a priority wherever it is used.
  if ('project_id' in owner) titles.push('urgent');
  const rows = titles.map((title) => ({ ...owner, title, color: '#112233' }));
  const ids = await insert(db, 'labels', rows);
  const priorityOf = (place: number) => ranked.map((project_id, index) => [project_id, place + 2 * index]);
  const labels = titles.map((title, index) => ({
    id: ids[index]!,
    title,
    priorities: ['bug', 'level::high', 'urgent'].includes(title) ? Object.fromEntries(priorityOf(index)) : {},
  }));
  const priorities = labels.flatMap(({ id, priorities: given }) =>
    Object.entries(given).map(([project_id, priority]) => ({ label_id: id, project_id, priority })),
  );
  await insert(db, 'label_priorities', priorities);
  return labels;
}

/** The last one has no milestone. */
export const milestoneTitles = ['past', 'next', 'twin', 'someday', 'unknown'];

async function addMilestones(db: Database, owner: Owner, later: number): Promise<Milestone[]> {
  const given = [
    ['past', 'active', -10, 'group_id' in owner ? undefined : -5],
    ['next', 'active', -1, 3 + later],
    ['twin', 'active', 1, 3 + later],
    ['someday', 'active', undefined, undefined],
    ['closed', 'closed', -3, 2],
  ] as const;
  const day = (days: number | undefined) => (days === undefined ? null : dayFromNow(days));
  const rows = given.map(([title, state, start, due], index) => {
    const dates = { start_date: day(start), due_date: day(due) };
    return { ...owner, iid: index + 1, title, state, ...dates };
  });
  const ids = await insert(db, 'milestones', rows);
  return rows.map((row, index) => ({ ...row, id: ids[index]!, owner: JSON.stringify(owner) }));
}

async function addIterations(db: Database, group_id: number): Promise<Iteration[]> {
  const cadence = { group_id, title: 'Weeks' };
  const [cadence_id] = await insert(db, 'iteration_cadences', [cadence]);
  const given = [
    ['sprint', -20, -10],
    [null, -3, 3],
    ['sprint', 5, 9],
  ] as const;
  const rows = given.map(([title, start, due], index) => {
    const dates = { start_date: dayFromNow(start), due_date: dayFromNow(due) };
    return { cadence_id, group_id, iid: index + 1, sequence: index + 1, state: index + 1, title, ...dates };
  });
  const ids = await insert(db, 'iterations', rows);
  return rows.map((row, index) => ({ ...row, id: ids[index]! }));
}

/** Adds to each project and group labels and milestones, which have the same titles everywhere. */
export async function addPlans(db: Database, { groups, projects }: Places): Promise<Plans> {
  const plans: Plans = { labels: new Map(), milestones: new Map(), iterations: [] };
  for (const [index, { id }] of Object.values(projects).entries()) {
    plans.labels.set(id, await addLabels(db, { project_id: id }, [id]));
    plans.milestones.set(id, await addMilestones(db, { project_id: id }, index % 2));
  }
  for (const { id } of Object.values(groups)) {
    const ranked = id === groups.top.id ? [projects.main.id, projects.inside.id] : [];
    plans.labels.set(id, await addLabels(db, { group_id: id }, ranked));
    plans.milestones.set(id, await addMilestones(db, { group_id: id }, 7));
  }
  plans.iterations = await addIterations(db, groups.top.id);
  return plans;
}
