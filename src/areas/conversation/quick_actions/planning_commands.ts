/** Commands on labels, assignees, milestones, iterations and dates. */
import { type Caller, reaches } from '../../../http/index.ts';
import { isIterationFor, iterationAt, iterationFor, iterationRows } from '../../planning/iterations/index.ts';
import { milestoneRows } from '../../planning/milestones/index.ts';
import { dayMeant } from './day_rules.ts';
import type { Definition, Situation } from './definition.ts';
import { labelReference, type NamedUser, namedLabels, namedMilestone, namedUsers } from './queries.ts';
import { listed, projectOf } from './rules.ts';

const without = <T>(values: readonly T[] = [], others: readonly T[] = []): T[] =>
  values.filter((value) => !others.includes(value));
const union = <T>(values: readonly T[] = [], others: readonly T[] = []): T[] => [...new Set([...values, ...others])];

const sentenceOf = (titles: readonly string[]) =>
  `${titles.map(labelReference).join(' ')} ${titles.length === 1 ? 'label' : 'labels'}`;

/** The labels after the commands. */
const labelsAfter = ({ before, changes }: Situation) =>
  without(union(changes.labels ?? before.labels.map(({ title }) => title), changes.add_labels), changes.remove_labels);

export const labelCommands: readonly Definition[] = [
  {
    names: ['label', 'labels'],
    needs: 'plan',
    apply: async (situation, argument) => {
      const labels = await namedLabels(situation, argument);
      if (labels.length === 0) return undefined;
      const { changes, commands_changes } = situation;
      const titles = labels.map(({ title }) => title);
      changes.add_labels = union(changes.add_labels, titles);
      changes.remove_labels = without(changes.remove_labels, titles);
      const ids = labels.map(({ id }) => id);
      commands_changes.add_label_ids = union(commands_changes.add_label_ids as number[] | undefined, ids);
      return `Added ${sentenceOf(titles)}.`;
    },
  },
  {
    names: ['unlabel', 'remove_label'],
    needs: 'plan',
    apply: async (situation, argument) => {
      const { changes, commands_changes } = situation;
      const borne = labelsAfter(situation);
      if (borne.length === 0) return undefined;
      if (argument === '') {
        Object.assign(changes, { labels: [], add_labels: [], remove_labels: [] });
        commands_changes.label_ids = [];
        return 'Removed all labels.';
      }
      const labels = (await namedLabels(situation, argument)).filter(({ title }) => borne.includes(title));
      if (labels.length === 0) return undefined;
      const titles = labels.map(({ title }) => title);
      changes.add_labels = without(changes.add_labels, titles);
      changes.remove_labels = union(changes.remove_labels, titles);
      const ids = labels.map(({ id }) => id);
      commands_changes.remove_label_ids = union(commands_changes.remove_label_ids as number[] | undefined, ids);
      return `Removed ${sentenceOf(titles)}.`;
    },
  },
  {
    names: ['relabel'],
    needs: 'plan',
    apply: async (situation, argument) => {
      const labels = await namedLabels(situation, argument);
      if (labels.length === 0) return undefined;
      const titles = labels.map(({ title }) => title);
      Object.assign(situation.changes, { labels: titles, add_labels: [], remove_labels: [] });
      situation.commands_changes.label_ids = labels.map(({ id }) => id);
      return `Replaced all labels with ${sentenceOf(titles)}.`;
    },
  },
];

/** The maximum number of assignees. */
const maximumAssignees = 200;

const assigneesAfter = ({ before, changes }: Situation): number[] => changes.assignee_ids ?? before.assignee_ids;

function setAssignees({ changes, commands_changes }: Situation, ids: number[]): boolean {
  if (ids.length > maximumAssignees) return false;
  changes.assignee_ids = ids;
  commands_changes.assignee_ids = ids;
  return true;
}

export const mentions = (users: readonly Pick<Caller, 'username'>[]) =>
  listed.format(users.map(({ username }) => `@${username}`));

/** The users who can be assigned together, or requested as reviewers: below Premium only one. */
export const kept = ({ plan }: Situation, users: NamedUser[]): NamedUser[] =>
  reaches(plan, 'premium') ? users : users.slice(0, 1);

export const usersOf = ({ tx }: Situation, ids: readonly number[]): Promise<NamedUser[]> =>
  tx.selectFrom('users').select(['id', 'username']).where('id', 'in', ids).orderBy('id').execute();

export const assigneeCommands: readonly Definition[] = [
  {
    names: ['assign'],
    needs: 'plan',
    apply: async (situation, argument) => {
      const users = kept(situation, await namedUsers(situation, argument));
      const present = reaches(situation.plan, 'premium') ? assigneesAfter(situation) : [];
      const ids = users.map(({ id }) => id);
      return users.length > 0 && setAssignees(situation, union(present, ids))
        ? `Assigned ${mentions(users)}.`
        : undefined;
    },
  },
  {
    names: ['reassign'],
    needs: 'plan',
    apply: async (situation, argument) => {
      const users = kept(situation, await namedUsers(situation, argument));
      const ids = users.map(({ id }) => id);
      return users.length > 0 && setAssignees(situation, ids)
        ? `Changed the assignees to ${mentions(users)}.`
        : undefined;
    },
  },
  {
    names: ['unassign', 'remove_assignee'],
    needs: 'plan',
    apply: async (situation, argument) => {
      const present = assigneesAfter(situation);
      if (present.length === 0) return undefined;
      const named = argument === '' ? await usersOf(situation, present) : await namedUsers(situation, argument);
      const users = named.filter(({ id }) => present.includes(id));
      if (users.length === 0) return undefined;
      const ids = users.map(({ id }) => id);
      setAssignees(situation, without(present, ids));
      return `Removed ${users.length === 1 ? 'assignee' : 'assignees'} ${mentions(users)}.`;
    },
  },
];

const milestoneReference = (title: string) => (/^[\p{L}\p{N}_.-]+$/u.test(title) ? `%${title}` : `%"${title}"`);

function setMilestone({ changes, commands_changes }: Situation, milestone_id: number | null): void {
  changes.milestone_id = milestone_id;
  commands_changes.milestone_id = milestone_id;
}

export const milestoneCommands: readonly Definition[] = [
  {
    names: ['milestone'],
    needs: 'plan',
    apply: async (situation, argument) => {
      const milestone = await namedMilestone(situation, argument);
      if (!milestone) return undefined;
      setMilestone(situation, milestone.id);
      return `Set the milestone to ${milestoneReference(milestone.title)}.`;
    },
  },
  {
    names: ['remove_milestone'],
    needs: 'plan',
    apply: async (situation) => {
      const id =
        situation.changes.milestone_id === undefined ? situation.before.milestone_id : situation.changes.milestone_id;
      if (id === null) return undefined;
      const { title } = await milestoneRows(situation.tx).where('milestones.id', '=', id).executeTakeFirstOrThrow();
      setMilestone(situation, null);
      return `Removed ${milestoneReference(title)} milestone.`;
    },
  },
];

function setIteration({ changes, commands_changes }: Situation, iteration_id: number | null): void {
  changes.iteration_id = iteration_id;
  commands_changes.iteration_id = iteration_id;
}

const namedId = /^\*iteration:(\d{1,15})$/;
const namedTitle = /^\*iteration:(?:"([^"]+)"|(\S+))$/;
const namedTime = /^(?:\[cadence:(\d{1,15})\] *)?--(current|next)$/;

/** The iteration of `*iteration:1`, `*iteration:"a title"`, `--current` or `[cadence:1] --next`. */
async function namedIteration(situation: Situation, argument: string): Promise<{ id: number } | undefined> {
  const { tx } = situation;
  const project = projectOf(situation);
  const [, cadence, when] = namedTime.exec(argument) ?? [];
  if (when !== undefined)
    return iterationAt(tx, project, when as 'current' | 'next', cadence === undefined ? undefined : Number(cadence));
  const [, id] = namedId.exec(argument) ?? [];
  if (id !== undefined) return iterationFor(tx, project, Number(id));
  const [, quoted, plain] = namedTitle.exec(argument) ?? [];
  const title = quoted ?? plain;
  if (title === undefined) return undefined;
  const query = iterationRows(tx).where('iterations.title', '=', title).where(isIterationFor(project.id));
  return query.orderBy('iterations.start_date', 'desc').executeTakeFirst();
}

export const iterationCommands: readonly Definition[] = [
  {
    names: ['iteration'],
    needs: 'plan',
    plan: 'premium',
    apply: async (situation, argument) => {
      const iteration = await namedIteration(situation, argument);
      if (!iteration) return undefined;
      setIteration(situation, iteration.id);
      return `Set the iteration to *iteration:${iteration.id}.`;
    },
  },
  {
    names: ['remove_iteration'],
    needs: 'plan',
    plan: 'premium',
    apply: (situation) => {
      const { before, changes } = situation;
      const id = changes.iteration_id === undefined ? before.iteration_id : changes.iteration_id;
      if (id === null) return undefined;
      setIteration(situation, null);
      return `Removed *iteration:${id} iteration.`;
    },
  },
];

const shortDate = new Intl.DateTimeFormat('en-US', {
  month: 'short',
  day: 'numeric',
  year: 'numeric',
  timeZone: 'UTC',
});

function setDueDate({ changes, commands_changes }: Situation, due_date: string | null): void {
  changes.due_date = due_date;
  commands_changes.due_date = due_date;
}

export const dueDateCommands: readonly Definition[] = [
  {
    names: ['due'],
    needs: 'plan',
    apply: (situation, argument) => {
      const day = dayMeant(argument, new Date());
      if (day === undefined) return undefined;
      setDueDate(situation, day);
      return `Set the due date to ${shortDate.format(new Date(`${day}T00:00:00Z`))}.`;
    },
  },
  {
    names: ['remove_due_date'],
    needs: 'plan',
    apply: (situation) => {
      const { before, changes } = situation;
      if ((changes.due_date === undefined ? before.due_date : changes.due_date) === null) return undefined;
      setDueDate(situation, null);
      return 'Removed the due date.';
    },
  },
];

export const planningCommands: readonly Definition[] = [
  ...labelCommands,
  ...assigneeCommands,
  ...milestoneCommands,
  ...iterationCommands,
  ...dueDateCommands,
];
